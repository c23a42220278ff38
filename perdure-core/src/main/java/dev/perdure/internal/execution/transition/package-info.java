/** The one way in which a run writes, waits, and obeys what others ask of it. */
package dev.perdure.internal.execution.transition;
