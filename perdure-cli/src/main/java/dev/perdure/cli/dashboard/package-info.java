/** The sample shop that {@code ./perdure dashboard --demo} shows. */
@NullMarked
package dev.perdure.cli.dashboard;

import org.jspecify.annotations.NullMarked;
