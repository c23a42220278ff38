/** Transaction steps with Jdbi. */
@NullMarked
package dev.perdure.jdbi;

import org.jspecify.annotations.NullMarked;
