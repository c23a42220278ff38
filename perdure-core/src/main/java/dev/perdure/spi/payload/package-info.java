/** Large payloads, which are kept apart from journals: their references, and the stores that keep them. */
package dev.perdure.spi.payload;
