/**
 * Workflows whose order is known before they run: a {@link dev.perdure.dag.Dag} consists of tasks and of the tasks that
 * each of them comes after. Every task is a durable run of its own.
 */
package dev.perdure.dag;
