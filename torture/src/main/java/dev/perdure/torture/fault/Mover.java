package dev.perdure.torture.fault;

import dev.perdure.postgres.PostgresShards;
import dev.perdure.torture.setup.ShardOperator;
import dev.perdure.torture.setup.ShardSite;
import java.util.Arrays;
import java.util.List;

/** A process that moves partitions, which can be killed. */
public final class Mover {
    private Mover() {}

    /**
     * Arguments: the addresses of the ledger and of the shards, the shard to which partitions go, and the partitions with
     * commas between them, or {@code clean} to remove what has left.
     */
    public static void main(String... arguments) {
        String to = arguments[ShardSite.addressArguments()];
        String partitions = arguments[ShardSite.addressArguments() + 1];
        try (ShardOperator operator = new ShardOperator(ShardSite.addresses(arguments))) {
            PostgresShards shards = operator.shards();
            System.out.println("ready");
            if (partitions.equals("clean")) {
                shards.clean(Mover::say);
            } else {
                List<Integer> all = Arrays.stream(partitions.split(","))
                        .map(Integer::valueOf)
                        .toList();
                shards.move(all, to, Mover::say);
            }
        }
    }

    /** To the process that waits for it, and to the log. */
    private static void say(String progress) {
        System.out.println(progress);
        System.err.printf("%tT.%<tL %s%n", System.currentTimeMillis(), progress);
    }
}
