/** {@code ./perdure demo}: shows how an order survives the crash of its worker. */
@NullMarked
package dev.perdure.cli.demo;

import org.jspecify.annotations.NullMarked;
