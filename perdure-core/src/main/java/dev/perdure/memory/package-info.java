/** The in-memory store, for tests and experiments. It loses everything when the process ends. */
package dev.perdure.memory;
