/** What commands print: text for people, JSON for scripts, from the same values. */
@NullMarked
package dev.perdure.cli.output;

import org.jspecify.annotations.NullMarked;
