package dev.perdure.shards;

import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.Parts;
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
    private final Shards shards;

    ShardedStatistics(Shards shards) {
        this.shards = shards;
    }

    @Override
    public List<Seen> newest(RunFilter filter, Duration within, int limit) {
        return shards.ask(store -> store.statistics().newest(filter, within, limit)).stream()
                .flatMap(List::stream)
                .sorted(Comparator.comparing(Seen::createdAt).reversed())
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
    public Histogram histogram(RunFilter filter, Span span) {
        List<Histogram> all = shards.ask(store -> store.statistics().histogram(filter, span));
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
