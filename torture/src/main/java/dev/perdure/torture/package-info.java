/** Faults of every kind that we know in front of the engine on a real PostgreSQL, and a check of what it did: what {@code ./perdure torture} runs. */
@NullMarked
package dev.perdure.torture;

import org.jspecify.annotations.NullMarked;
