/** The only way in which a run writes and waits, and how it obeys requests. */
package dev.perdure.internal.execution.transition;
