/** Exported runs: read from the store, and as JSON. */
package dev.perdure.internal.history;
