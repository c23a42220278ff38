/**
 * Workflows that are drawn before they run: a {@link dev.perdure.dag.Dag} is tasks and what each of them comes after. Every
 * task is a durable run of its own.
 */
package dev.perdure.dag;
