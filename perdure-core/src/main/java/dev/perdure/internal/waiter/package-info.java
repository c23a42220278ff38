/** Threads of callers that wait for results, published values and promises, with one query for all of them. */
package dev.perdure.internal.waiter;
