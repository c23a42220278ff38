/** Limits of queues and limiters that the shards have together. */
package dev.perdure.shards.limit;
