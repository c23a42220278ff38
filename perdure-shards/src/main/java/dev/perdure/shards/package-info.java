/** A store over several servers: each shard is a whole store with some of the partitions. */
package dev.perdure.shards;
