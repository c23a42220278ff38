/** The engine on a real PostgreSQL, ill-treated in every way that we know, and a check of what it did: what {@code ./perdure torture} runs. */
@NullMarked
package dev.perdure.torture;

import org.jspecify.annotations.NullMarked;
