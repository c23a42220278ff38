/** The engine around executions: the worker with its lease and dispatch, the waiting for results, and the public API. */
package dev.perdure.internal.engine;
