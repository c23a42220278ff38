/** What is done to them. */
@NullMarked
package dev.perdure.torture.fault;

import org.jspecify.annotations.NullMarked;
