/** The sample shop that {@code ./perdure dashboard --demo} shows. */
package dev.perdure.cli.dashboard;
