/**
 * Small programs that each show one feature. Most have a {@code main} that runs them on the in-memory store. A test
 * runs each of them, mostly on virtual time. The documentation quotes the marked regions.
 */
@NullMarked
package dev.perdure.examples;

import org.jspecify.annotations.NullMarked;
