package dev.perdure.shards.limit;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.shards.limit.LimitRules.Limited;
import dev.perdure.spi.Audit;
import dev.perdure.spi.report.EngineLog;
import dev.perdure.spi.shard.Places;
import dev.perdure.spi.shard.Places.Limit;
import dev.perdure.spi.shard.Places.Share;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** The limits of all queues, or of all limiters, divided among the shards: each shard has its share of them. */
public final class DividedLimits {
    private static final Logger LOG = EngineLog.of("dev.perdure.shards");

    private static final int MOST_PASSES = 3;

    private final Places.Kind kind;
    private final Divisions divisions;
    private final List<LimitRules> shards;
    private final Asking asking;

    /** Asks a shard, and names it in exceptions. */
    public interface Asking {
        /** The answer. */
        <T> T ask(int shard, Function<Integer, T> question);
    }

    /** @param kind what has the limits */
    public DividedLimits(Places.Kind kind, List<LimitRules> shards, Divisions divisions, Asking asking) {
        this.kind = kind;
        this.shards = List.copyOf(shards);
        this.divisions = divisions;
        this.asking = asking;
    }

    /**
     * Stores what the code declares. A shard gets its places before it forgets how many it had without them.
     *
     * @param first the shards that are told before the others
     */
    public void declare(List<Integer> first, Map<String, Map<String, String>> byName) {
        List<Map<String, Map<String, String>>> shares = IntStream.range(0, shards.size())
                .mapToObj(shard -> {
                    Map<String, Map<String, String>> ofShard = new TreeMap<>();
                    byName.forEach((name, settings) -> ofShard.put(name, declared(share(name, settings, shard))));
                    return ofShard;
                })
                .toList();
        List<Integer> order = Stream.concat(
                        first.stream(), IntStream.range(0, shards.size()).boxed())
                .distinct()
                .toList();
        if (shards.size() > 1 && !byName.isEmpty()) {
            byName.forEach((name, settings) -> Shares.concurrency(settings)
                    .ifPresent(whole -> order.forEach(shard -> divisions.open(
                            shard, new Limit(kind, name), shares.get(shard).getOrDefault(name, Map.of()), whole))));
            divide(byName);
        }
        order.forEach(shard -> tell(shard, rules -> rules.declare(shares.get(shard))));
    }

    /** Divides what is to be declared. */
    private void divide(Map<String, Map<String, String>> byName) {
        Map<String, Limited> there = listed(0);
        List<List<Share>> known = divisions.known();
        byName.forEach((name, settings) -> {
            Limited before = there.get(name);
            divide(name, before == null ? Map.of() : Shares.whole(before.changed()), settings, known);
        });
    }

    /** Returns whether anything was to be done. */
    private boolean divide(
            String name, Map<String, String> changed, Map<String, String> declared, List<List<Share>> known) {
        Limit limit = new Limit(kind, name);
        List<Optional<Share>> shares = known.stream()
                .map(ofShard -> ofShard.stream()
                        .filter(share -> share.limit().equals(limit))
                        .findFirst())
                .toList();
        int whole =
                Shares.concurrency(changed).orElse(Shares.concurrency(declared).orElse(Places.UNLIMITED));
        if (divisions.areOf(shares, whole)
                || (whole == Places.UNLIMITED && shares.stream().allMatch(Optional::isEmpty))) {
            return false;
        }
        divisions.divide(limit, whole);
        return true;
    }

    private Map<String, Limited> listed(int shard) {
        return asking.ask(shard, one -> shards.get(one).list()).stream()
                .collect(Collectors.toMap(Limited::name, limited -> limited));
    }

    /**
     * What other processes and operators have set is divided again if there are more shards now, or fewer. The first shard that
     * has a queue or a limiter decides: it is told of a change first, and here it is asked last, while a shard that was added
     * may have what was set before. What cannot be divided stays as it is: then no partition moves to a new shard. A process
     * that has divided anything looks again, because another one may have set something else meanwhile.
     */
    public void divideAgain() {
        for (int i = 0; i < MOST_PASSES && pass(); i++) {}
    }

    private boolean pass() {
        List<Map<String, Limited>> known = new ArrayList<>();
        for (int shard = shards.size() - 1; shard >= 0; shard--) {
            known.addFirst(listed(shard));
        }
        Map<String, Limited> all = new TreeMap<>();
        known.forEach(ofShard -> ofShard.forEach(all::putIfAbsent));
        boolean moves = shards.size() > 1
                || all.values().stream().anyMatch(first -> first.changed().containsKey(Places.DIVISION));
        List<List<Share>> shares = moves ? divisions.known() : List.of();
        boolean divided = false;
        for (Limited first : all.values()) {
            try {
                divided |= divideAgain(first, known, shares);
            } catch (InvalidRequestException tooSmall) {
                LOG.warn("{}", tooSmall.getMessage());
            }
        }
        return divided;
    }

    private boolean divideAgain(Limited first, List<Map<String, Limited>> known, List<List<Share>> shares) {
        String name = first.name();
        Map<String, String> wholeOfCode = Shares.whole(first.declared());
        Map<String, String> wholeOfOperators = Shares.whole(first.changed());
        List<Map<String, String>> declared = shares(name, wholeOfCode);
        List<Map<String, String>> changed = shares(name, wholeOfOperators);
        boolean divided = !shares.isEmpty() && divide(name, wholeOfOperators, wholeOfCode, shares);
        if (shards.size() == 1 && first.changed().containsKey(Places.DIVISION)) {
            divisions.dissolve(new Limit(kind, name));
        }
        for (int shard = 0; shard < shards.size(); shard++) {
            Limited share = new Limited(name, declared(declared.get(shard)), changed.get(shard), first.paused());
            @Nullable Limited there = known.get(shard).get(name);
            tell(shard, rules -> change(rules, there, share));
        }
        return divided;
    }

    /** Without a share, nobody gets a place. */
    private Map<String, String> declared(Map<String, String> share) {
        if (shards.size() == 1 || Shares.concurrency(Shares.whole(share)).isEmpty()) {
            return share;
        }
        Map<String, String> declared = new TreeMap<>(share);
        declared.put(Places.CONCURRENCY, "0");
        return declared;
    }

    /** Gives a shard its share, and makes what operators have changed there the same as on the first one. */
    private static void change(LimitRules rules, @Nullable Limited there, Limited share) {
        if (there == null || !there.declared().equals(share.declared())) {
            rules.declare(Map.of(share.name(), share.declared()));
        }
        Map<String, String> before = there == null ? Map.of() : Shares.withoutPlaces(there.changed());
        if (!share.changed().keySet().containsAll(before.keySet())) {
            rules.reset(share.name(), null);
        }
        if (!before.equals(share.changed())) {
            rules.limit(share.name(), share.changed(), null);
        }
        if (!share.paused().equals(there == null ? Optional.empty() : there.paused())) {
            rules.pause(share.name(), share.paused().orElse(null), null);
        }
    }

    /** Changes settings. This and the next two return whether a shard knows the name. */
    public boolean limit(String name, Map<String, String> changes, @Nullable Audit audit) {
        List<Map<String, String>> shares = shares(name, changes);
        boolean known = false;
        for (int shard = 0; shard < shards.size(); shard++) {
            known |= shards.get(shard).limit(name, shares.get(shard), audit);
        }
        divideAgain();
        return known;
    }

    /** Removes all changes of settings. */
    public boolean reset(String name, @Nullable Audit audit) {
        boolean known = onEach(rules -> rules.reset(name, audit));
        divideAgain();
        return known;
    }

    /** Pauses it; lets it go on if there is no reason. */
    public boolean pause(String name, @Nullable String reason, @Nullable Audit audit) {
        return onEach(rules -> rules.pause(name, reason, audit));
    }

    private boolean onEach(Function<LimitRules, Boolean> order) {
        boolean known = false;
        for (LimitRules rules : shards) {
            known |= order.apply(rules);
        }
        return known;
    }

    private void tell(int shard, Consumer<LimitRules> saying) {
        asking.ask(shard, one -> {
            saying.accept(shards.get(one));
            return true;
        });
    }

    private List<Map<String, String>> shares(String name, Map<String, String> settings) {
        return IntStream.range(0, shards.size())
                .mapToObj(shard -> share(name, settings, shard))
                .toList();
    }

    private Map<String, String> share(String name, Map<String, String> settings, int shard) {
        return Shares.of(
                "The %s '%s'".formatted(kind == Places.Kind.QUEUE ? "queue" : "limiter", name),
                settings,
                shard,
                shards.size());
    }

    /** Settings by name. */
    public static <T> Map<String, Map<String, String>> byName(
            Iterable<T> all, Function<T, String> name, Function<T, Map<String, String>> settings) {
        Map<String, Map<String, String>> byName = new HashMap<>();
        all.forEach(each -> byName.put(name.apply(each), settings.apply(each)));
        return byName;
    }
}
