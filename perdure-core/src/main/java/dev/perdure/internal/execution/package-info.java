/** One run in memory: it enters the workflow, gives it its context, and leaves again. */
package dev.perdure.internal.execution;
