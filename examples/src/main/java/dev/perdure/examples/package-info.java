/**
 * Small programs that show one thing each. Every one has a {@code main} that runs it on the in-memory store, and a test
 * that runs it on virtual time; the documentation quotes the regions marked in them.
 */
@NullMarked
package dev.perdure.examples;

import org.jspecify.annotations.NullMarked;
