package dev.perdure.shards;

import dev.perdure.RunState;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.Parts;
import dev.perdure.spi.shard.RunSelection;
import dev.perdure.spi.statistics.Statistics;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Statistics of all shards together. */
final class ShardedStatistics implements Statistics {
    private static final Comparator<Seen> NEWEST_FIRST = Comparator.comparing(Seen::createdAt)
            .thenComparing(seen -> seen.run().id())
            .reversed();

    private final Shards shards;

    ShardedStatistics(Shards shards) {
        this.shards = shards;
    }

    @Override
    public List<Seen> newest(RunSelection selection, Duration within, int limit) {
        Selections selections = Selections.of(shards, selection.filter());
        return shards
                .ask(
                        shards.indexes(),
                        shard -> shards.store(shard).statistics().newest(selections.on(shard), within, limit).stream()
                                .filter(seen -> shards.has(shard, seen.run().id()))
                                .toList())
                .stream()
                .flatMap(List::stream)
                .sorted(NEWEST_FIRST)
                .limit(limit)
                .toList();
    }

    @Override
    public List<StepTime> steps(Collection<RunRef> runs, int most) {
        return Parts.divide(runs, shards::of).entrySet().stream()
                .flatMap(some -> shards.store(some.getKey()).statistics().steps(some.getValue(), most).stream())
                .toList();
    }

    /** Of the seconds that every shard has looked at. */
    @Override
    public Rates rates(int seconds, int most) {
        List<Rates> all = shards.ask(store -> store.statistics().rates(seconds, most));
        Instant from =
                all.stream().map(Rates::from).max(Comparator.naturalOrder()).orElseThrow();
        Instant to = all.stream().map(Rates::to).min(Comparator.naturalOrder()).orElseThrow();
        Map<Instant, Second> sums = new TreeMap<>();
        all.stream()
                .flatMap(rates -> rates.seconds().stream())
                .filter(second ->
                        !second.begin().isBefore(from) && second.begin().isBefore(to))
                .forEach(second -> sums.merge(
                        second.begin(),
                        second,
                        (one, other) -> new Second(
                                one.begin(),
                                one.started() + other.started(),
                                one.ended() + other.ended(),
                                one.failed() + other.failed())));
        return new Rates(from, to, List.copyOf(sums.values()), all.stream().anyMatch(Rates::more));
    }

    @Override
    public Histogram histogram(RunSelection selection, Span span) {
        Selections selections = Selections.of(shards, selection.filter());
        List<Histogram> all = shards.ask(
                shards.indexes(), shard -> shards.store(shard).statistics().histogram(selections.on(shard), span));
        List<Map<RunState, Long>> bars = new ArrayList<>();
        for (int bar = 0; bar < span.bars(); bar++) {
            Map<RunState, Long> sum = new EnumMap<>(RunState.class);
            for (Histogram one : all) {
                one.bars().get(bar).forEach((state, count) -> sum.merge(state, count, Long::sum));
            }
            bars.add(sum);
        }
        return new Histogram(
                bars,
                all.stream().mapToDouble(Histogram::sampled).min().orElse(1),
                all.stream().anyMatch(Histogram::more));
    }

    @Override
    public List<Wait> waits(Span span, int most) {
        return shards.ask(store -> store.statistics().waits(span, most)).stream()
                .flatMap(List::stream)
                .toList();
    }
}
