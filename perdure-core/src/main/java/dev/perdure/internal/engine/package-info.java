/** The engine behind the public API: it starts runs, and makes handles, outboxes and clients of virtual objects. */
package dev.perdure.internal.engine;
