/** The journal of a run as its code replays it. */
package dev.perdure.internal.execution.replay;
