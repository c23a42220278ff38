/** A database that is one of several shards: which one, and which shard has which partition. */
package dev.perdure.postgres.shard;
