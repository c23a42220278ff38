/** The command about the servers of a sharded store. */
@NullMarked
package dev.perdure.cli.shard;

import org.jspecify.annotations.NullMarked;
