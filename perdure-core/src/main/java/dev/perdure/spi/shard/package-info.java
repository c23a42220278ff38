/** Stores with several servers: which of them has a run, and what crosses between them. */
package dev.perdure.spi.shard;
