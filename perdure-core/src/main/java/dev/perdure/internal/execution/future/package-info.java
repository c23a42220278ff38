/** Durable futures: how the engine makes, joins and awaits them. */
package dev.perdure.internal.execution.future;
