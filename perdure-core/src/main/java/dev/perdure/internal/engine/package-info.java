/** The engine behind the public API: it starts runs, and makes handles, outboxes and handles to virtual objects. */
package dev.perdure.internal.engine;
