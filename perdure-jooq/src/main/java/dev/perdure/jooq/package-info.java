/** Transaction steps with jOOQ. */
@NullMarked
package dev.perdure.jooq;

import org.jspecify.annotations.NullMarked;
