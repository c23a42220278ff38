/** {@code ./perdure demo}: an order survives the death of its worker, before your eyes. */
@NullMarked
package dev.perdure.cli.demo;

import org.jspecify.annotations.NullMarked;
