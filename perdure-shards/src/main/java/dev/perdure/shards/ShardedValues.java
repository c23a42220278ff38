package dev.perdure.shards;

import dev.perdure.spi.payload.StoredValues;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Encrypted values, shard by shard. An address begins with the number of the shard. */
final class ShardedValues implements StoredValues {
    private final Shards shards;

    ShardedValues(Shards shards) {
        this.shards = shards;
    }

    private static int shardOf(List<String> address) {
        return Integer.parseInt(address.getFirst());
    }

    private static List<String> inside(List<String> address) {
        return address.subList(1, address.size());
    }

    private static List<String> of(int shard, List<String> inside) {
        List<String> address = new ArrayList<>();
        address.add(Integer.toString(shard));
        address.addAll(inside);
        return address;
    }

    @Override
    public Page read(List<String> after, String key) {
        int shard = after.isEmpty() ? 0 : shardOf(after);
        Page page = shards.store(shard).values().read(after.isEmpty() ? after : inside(after), key);
        boolean last = shard + 1 == shards.all().size();
        List<String> next = last ? List.of() : of(shard + 1, List.of());
        return new Page(
                page.values().stream()
                        .map(value -> new Value(of(shard, value.address()), value.site(), value.payload()))
                        .toList(),
                page.reached().isEmpty() ? next : of(shard, page.reached()));
    }

    @Override
    public int replace(List<Replacement> replacements) {
        Map<Integer, List<Replacement>> byShard = new TreeMap<>();
        for (Replacement each : replacements) {
            byShard.computeIfAbsent(shardOf(each.address()), unseen -> new ArrayList<>())
                    .add(new Replacement(inside(each.address()), each.before(), each.after()));
        }
        return byShard.entrySet().stream()
                .mapToInt(each -> shards.store(each.getKey()).values().replace(each.getValue()))
                .sum();
    }
}
