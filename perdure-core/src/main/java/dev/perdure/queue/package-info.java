/** Queues with limits: their declarations, and what operators see and change. */
package dev.perdure.queue;
