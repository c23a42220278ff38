/** What the workers do meanwhile, and what has to hold of it at the end. */
@NullMarked
package dev.perdure.torture.work;

import org.jspecify.annotations.NullMarked;
