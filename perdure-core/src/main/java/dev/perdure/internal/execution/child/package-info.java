/** The children of a run: workflows, DAGs and calls of virtual objects that it starts. */
package dev.perdure.internal.execution.child;
