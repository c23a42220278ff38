/** Log lines of steps through Logback. */
@NullMarked
package dev.perdure.logback;

import org.jspecify.annotations.NullMarked;
