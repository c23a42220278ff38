/** What every store must do with queues: limits, turns, rates and the changes of operators. */
package dev.perdure.conformance.queue;
