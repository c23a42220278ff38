/** The workloads of several shards, in which nearly everything crosses between them. */
@NullMarked
package dev.perdure.torture.work.shard;

import org.jspecify.annotations.NullMarked;
