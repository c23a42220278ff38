/** The test kit on a real PostgreSQL. */
@NullMarked
package dev.perdure.testing.postgres;

import org.jspecify.annotations.NullMarked;
