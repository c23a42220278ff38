package dev.perdure.postgres.shard;

import dev.perdure.spi.shard.ShardMap;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** Which partitions have to move so that shards have about as many each. */
public final class Balance {
    private Balance() {}

    /**
     * The partitions that have to move, by the shard that gets them.
     *
     * @param having the shards that are to have partitions
     */
    public static SortedMap<String, List<Integer>> moves(ShardMap map, List<String> having) {
        int fewest = map.owners().size() / having.size();
        int withOneMore = map.owners().size() % having.size();
        Map<String, Integer> wanted = new HashMap<>();
        // Those that have most keep one more, so that fewer partitions move.
        List<String> largestFirst = having.stream()
                .sorted((one, other) -> Long.compare(map.partitionsOf(other), map.partitionsOf(one)))
                .toList();
        for (String shard : largestFirst) {
            wanted.put(shard, fewest + (wanted.size() < withOneMore ? 1 : 0));
        }
        List<Integer> spare = new ArrayList<>();
        Map<String, Integer> kept = new HashMap<>();
        for (int partition = 0; partition < map.owners().size(); partition++) {
            String owner = map.owners().get(partition);
            if (kept.getOrDefault(owner, 0) < wanted.getOrDefault(owner, 0)) {
                kept.merge(owner, 1, Integer::sum);
            } else {
                spare.add(partition);
            }
        }
        SortedMap<String, List<Integer>> moves = new TreeMap<>();
        int next = 0;
        for (String shard : having.stream().sorted().toList()) {
            int missing = wanted.getOrDefault(shard, 0) - kept.getOrDefault(shard, 0);
            if (missing > 0) {
                moves.put(shard, List.copyOf(spare.subList(next, next + missing)));
                next += missing;
            }
        }
        return moves;
    }
}
