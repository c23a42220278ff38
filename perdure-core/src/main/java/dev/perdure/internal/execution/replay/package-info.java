/** The journal of a run while its code is replayed. */
package dev.perdure.internal.execution.replay;
