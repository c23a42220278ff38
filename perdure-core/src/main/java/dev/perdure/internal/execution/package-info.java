/** One run in memory: an execution enters the workflow, gives it its context, and leaves. */
package dev.perdure.internal.execution;
