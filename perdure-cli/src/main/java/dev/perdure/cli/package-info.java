/** The command line tool: {@code ./perdure}. */
@NullMarked
package dev.perdure.cli;

import org.jspecify.annotations.NullMarked;
