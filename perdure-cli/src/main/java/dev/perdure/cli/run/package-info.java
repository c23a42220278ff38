/** What the command line tool prints about runs. */
@NullMarked
package dev.perdure.cli.run;

import org.jspecify.annotations.NullMarked;
