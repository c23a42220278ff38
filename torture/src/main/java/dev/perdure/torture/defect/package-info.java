/** Defects of the store, planted in front of it, to show that the checker finds them. */
@NullMarked
package dev.perdure.torture.defect;

import org.jspecify.annotations.NullMarked;
