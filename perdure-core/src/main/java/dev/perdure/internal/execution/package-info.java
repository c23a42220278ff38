/** One run in memory: replay, live calls, waits, and how it leaves again. */
package dev.perdure.internal.execution;
