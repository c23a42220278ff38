/** Durable futures: how they are made, joined and awaited. */
package dev.perdure.internal.execution.future;
