/** Runs of an older version in a dump of its database, and their ends with this one: what {@code ./perdure torture dump} runs. */
@NullMarked
package dev.perdure.torture.upgrade;

import org.jspecify.annotations.NullMarked;
