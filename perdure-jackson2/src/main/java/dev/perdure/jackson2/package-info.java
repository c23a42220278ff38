/** Values as the application's own mapper of Jackson 2 writes them. */
@NullMarked
package dev.perdure.jackson2;

import org.jspecify.annotations.NullMarked;
