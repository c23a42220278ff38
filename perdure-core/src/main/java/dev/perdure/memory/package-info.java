/** The in-memory store, for tests and for trying things out. It forgets everything when the process ends. */
package dev.perdure.memory;
