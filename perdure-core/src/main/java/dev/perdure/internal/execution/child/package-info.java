/** Children of a run: workflows, graphs of tasks and calls of virtual objects that it starts. */
package dev.perdure.internal.execution.child;
