/** Queues and their limits. */
package dev.perdure.postgres.queue;
