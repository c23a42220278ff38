package dev.perdure.shards.limit;

import dev.perdure.spi.shard.Places;
import dev.perdure.spi.shard.Places.Division;
import dev.perdure.spi.shard.Places.Limit;
import dev.perdure.spi.shard.Places.Share;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Divides limits whose places move.
 *
 * <p>How it works: the first shard decides. A division is what it has stored under the highest number. All other shards join it,
 * which only lowers what they have. When all have joined, their numbers say what each of them gets, which every process computes
 * in the same way, and they settle. So a process may stop anywhere, and another one goes on. If a shard has a higher number,
 * another process has begun anew: then this one begins anew, too.
 */
public final class Divisions {
    private static final int MOST_TRIES = 20;

    private final IntFunction<Places> shards;
    private final List<String> names;
    private final DividedLimits.Asking asking;

    /** The places of the shards, in their order. */
    public Divisions(IntFunction<Places> shards, List<String> names, DividedLimits.Asking asking) {
        this.shards = shards;
        this.names = List.copyOf(names);
        this.asking = asking;
    }

    int size() {
        return names.size();
    }

    /** What each shard has of all limits. */
    List<List<Share>> known() {
        return IntStream.range(0, names.size())
                .mapToObj(shard -> asking.ask(shard, one -> shards.apply(one).shares()))
                .toList();
    }

    /** Lets a shard that has never heard of it begin with its even part. */
    void open(int shard, Limit limit, Map<String, String> declared, int whole) {
        asking.ask(shard, one -> {
            shards.apply(one).open(limit, declared, new Division(1, whole, names), even(whole, one));
            return true;
        });
    }

    /** Whether these shares, one of each shard, are those of one division of this limit among these shards. */
    boolean areOf(List<Optional<Share>> shares, int whole) {
        return shares.stream()
                .allMatch(share -> share.isPresent()
                        && share.get().settled()
                        && share.get()
                                .division()
                                .equals(shares.getFirst().orElseThrow().division())
                        && isOf(share.get().division(), whole));
    }

    private boolean isOf(Division division, int whole) {
        return division.whole() == whole && division.shards().equals(names);
    }

    /** Divides a limit, unless it is divided so. */
    void divide(Limit limit, int whole) {
        for (int i = 0; i < MOST_TRIES; i++) {
            List<Optional<Share>> shares = shares(limit);
            if (areOf(shares, whole)) {
                return;
            }
            Division decided = decided(shares).orElse(null);
            if (decided == null || !isOf(decided, whole)) {
                Division next = new Division(newest(shares) + 1, whole, names);
                join(0, limit, next);
            } else {
                goOn(limit, decided, shares);
            }
        }
    }

    /** Goes on with a division that a process has begun, if it is among these shards. */
    public void complete(Limit limit) {
        List<Optional<Share>> shares = shares(limit);
        decided(shares)
                .filter(decided -> decided.shards().equals(names))
                .ifPresent(decided -> divide(limit, decided.whole()));
    }

    void dissolve(Limit limit) {
        asking.ask(0, one -> {
            shards.apply(one).dissolve(limit);
            return true;
        });
    }

    private List<Optional<Share>> shares(Limit limit) {
        return IntStream.range(0, names.size())
                .mapToObj(shard -> asking.ask(shard, one -> shards.apply(one).share(limit)))
                .toList();
    }

    /** The division that the first shard has, if no shard has a newer one, or another one under the same number. */
    private static Optional<Division> decided(List<Optional<Share>> shares) {
        return shares.getFirst()
                .map(Share::division)
                .filter(first -> shares.stream()
                        .flatMap(Optional::stream)
                        .map(Share::division)
                        .allMatch(each -> each.number() < first.number() || each.equals(first)));
    }

    private static long newest(List<Optional<Share>> shares) {
        return shares.stream()
                .flatMap(Optional::stream)
                .mapToLong(share -> share.division().number())
                .max()
                .orElse(0);
    }

    private Share join(int shard, Limit limit, Division division) {
        return asking.ask(shard, one -> shards.apply(one).join(limit, division, even(division.whole(), one)));
    }

    private void goOn(Limit limit, Division division, List<Optional<Share>> shares) {
        List<Share> joined = new ArrayList<>();
        for (int shard = 0; shard < shares.size(); shard++) {
            Share share = shares.get(shard)
                    .filter(there -> there.division().equals(division))
                    .orElse(null);
            joined.add(share == null ? join(shard, limit, division) : share);
        }
        if (!joined.stream().allMatch(share -> share.division().equals(division))) {
            return;
        }
        int[] parts = settled(joined.stream().mapToInt(Share::joined).toArray(), division.whole());
        for (int shard = 0; shard < parts.length; shard++) {
            int part = parts[shard];
            asking.ask(shard, one -> {
                shards.apply(one).settle(limit, division.number(), part);
                return true;
            });
        }
    }

    /** The even part of a shard. Those of the first shards are larger by one if there is a remainder. */
    private int even(int whole, int shard) {
        int count = names.size();
        return whole == Places.UNLIMITED ? whole : whole / count + (shard < whole % count ? 1 : 0);
    }

    /** What each shard gets: the smallest are raised, or the largest lowered, until they add up to the limit. */
    static int[] settled(int[] joined, int whole) {
        int[] parts = joined.clone();
        if (whole == Places.UNLIMITED) {
            Arrays.fill(parts, whole);
            return parts;
        }
        long missing = whole - Arrays.stream(parts).asLongStream().sum();
        for (; missing > 0; missing--) {
            int smallest = 0;
            for (int i = 1; i < parts.length; i++) {
                smallest = parts[i] < parts[smallest] ? i : smallest;
            }
            parts[smallest]++;
        }
        for (; missing < 0; missing++) {
            int largest = 0;
            for (int i = 1; i < parts.length; i++) {
                largest = parts[i] >= parts[largest] ? i : largest;
            }
            parts[largest]--;
        }
        return parts;
    }
}
