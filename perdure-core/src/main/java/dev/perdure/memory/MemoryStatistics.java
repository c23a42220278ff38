package dev.perdure.memory;

import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.spi.Runs.Entered;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.RunSelection;
import dev.perdure.spi.statistics.Statistics;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Statistics, from all rows. */
final class MemoryStatistics implements Statistics {
    private static final Comparator<Row> OLDEST_FIRST =
            Comparator.comparing((Row row) -> row.createdAt).thenComparing(row -> row.ref.id());

    private final Tables tables;

    MemoryStatistics(Tables tables) {
        this.tables = tables;
    }

    private Stream<Row> selected(RunSelection selection) {
        MemoryFilter filter = new MemoryFilter(tables, selection);
        return tables.byKey.values().stream().filter(filter::selects);
    }

    @Override
    public List<Seen> newest(RunSelection selection, Duration within, int limit) {
        return tables.inTransaction(() -> {
            Instant since = tables.now().minus(within);
            return selected(selection)
                    .filter(row -> !row.createdAt.isBefore(since))
                    .sorted(OLDEST_FIRST.reversed())
                    .limit(limit)
                    .map(row -> new Seen(row.ref, row.start.definition(), row.state, row.createdAt, row.changedAt))
                    .toList();
        });
    }

    /** Something that a run has recorded: an entry, or a change of state, which comes after entries of the same time. */
    private record Event(
            Instant at, int position, int note, @Nullable Entry entry) {
        private static final Comparator<Event> ORDER = Comparator.comparing(Event::at)
                .thenComparingInt(Event::position)
                .thenComparingInt(Event::note);

        /** The entry, if it is the answer of a step. */
        @Nullable
        Entry step() {
            boolean ended = entry != null
                    && entry.note() == Entry.ANSWER
                    && (entry.kind() == Entry.Kind.STEP || entry.kind() == Entry.Kind.TRANSACTION)
                    && (entry.status() == Entry.Status.VALUE || entry.status() == Entry.Status.FAILURE);
            return ended ? entry : null;
        }
    }

    @Override
    public List<StepTime> steps(Collection<RunRef> runs, int most) {
        return tables.inTransaction(() -> runs.stream()
                .flatMap(run -> Optional.ofNullable(tables.byKey.get(run.key())).stream())
                .flatMap(row -> steps(row, most).stream())
                .toList());
    }

    private static List<StepTime> steps(Row row, int most) {
        List<Event> events = new ArrayList<>();
        events.add(new Event(row.createdAt, Integer.MAX_VALUE, 0, null));
        row.entered.forEach(entered -> events.add(new Event(entered.at(), Integer.MAX_VALUE, 0, null)));
        row.journal.values().stream().limit(most).map(MemoryStatistics::event).forEach(events::add);
        events.sort(Event.ORDER);
        List<StepTime> steps = new ArrayList<>();
        Instant before = row.createdAt;
        for (Event event : events) {
            Entry step = event.step();
            if (step != null) {
                boolean failed = step.status() == Entry.Status.FAILURE;
                steps.add(new StepTime(step.name(), failed, Duration.between(before, event.at())));
            }
            before = event.at();
        }
        return steps;
    }

    private static Event event(Recorded recorded) {
        return new Event(
                recorded.at(), recorded.entry().position(), recorded.entry().note(), recorded.entry());
    }

    @Override
    public Rates rates(int seconds, int most) {
        return tables.inTransaction(() -> {
            Instant to = second(tables.now());
            Instant asked = to.minusSeconds(seconds);
            List<Row> newest = tables.byKey.values().stream()
                    .filter(row -> !row.createdAt.isBefore(asked))
                    .sorted(OLDEST_FIRST.reversed())
                    .limit(most + 1L)
                    .toList();
            Instant complete =
                    newest.size() > most ? second(newest.getLast().createdAt).plusSeconds(1) : asked;
            Instant from = complete.isAfter(to) ? to : complete;
            Map<Instant, Second> happened = new TreeMap<>();
            for (Row row : tables.byKey.values()) {
                count(happened, second(row.createdAt), 1, 0, 0);
                if (row.state.isTerminal()) {
                    count(happened, second(row.changedAt), 0, 1, row.state == RunState.FAILED ? 1 : 0);
                }
            }
            List<Second> between = happened.values().stream()
                    .filter(each -> !each.begin().isBefore(from) && each.begin().isBefore(to))
                    .toList();
            return new Rates(from, to, between, false);
        });
    }

    private static Instant second(Instant time) {
        return time.truncatedTo(ChronoUnit.SECONDS);
    }

    private static void count(Map<Instant, Second> happened, Instant second, int started, int ended, int failed) {
        happened.merge(
                second,
                new Second(second, started, ended, failed),
                (one, other) -> new Second(
                        second,
                        one.started() + other.started(),
                        one.ended() + other.ended(),
                        one.failed() + other.failed()));
    }

    @Override
    public Histogram histogram(RunSelection selection, Span span) {
        return tables.inTransaction(() -> {
            List<Map<RunState, Long>> bars = new ArrayList<>();
            List<Row> rows = selected(selection)
                    .filter(row -> !span.ended() || row.state.isTerminal())
                    .toList();
            for (int bar = 0; bar < span.bars(); bar++) {
                RunFilter.Period period = new RunFilter.Period(span.begin(bar), span.begin(bar + 1));
                Map<RunState, Long> counts = new EnumMap<>(RunState.class);
                rows.stream()
                        .filter(row -> period.contains(span.ended() ? row.changedAt : row.createdAt))
                        .forEach(row -> counts.merge(row.state, 1L, Long::sum));
                bars.add(counts);
            }
            return new Histogram(bars, 1, false);
        });
    }

    @Override
    public List<Wait> waits(Span span, int most) {
        return tables.inTransaction(() -> {
            List<Wait> waits = new ArrayList<>();
            List<Row> rows = tables.byKey.values().stream().sorted(OLDEST_FIRST).toList();
            for (int bar = 0; bar < span.bars(); bar++) {
                RunFilter.Period period = new RunFilter.Period(span.begin(bar), span.begin(bar + 1));
                rows.stream()
                        .filter(row -> period.contains(row.createdAt))
                        .limit(most)
                        .forEach(row -> addWaits(row.entered, waits));
            }
            return waits;
        });
    }

    private static void addWaits(List<Entered> states, List<Wait> waits) {
        for (int i = 1; i < states.size(); i++) {
            Entered ready = states.get(i - 1);
            Entered next = states.get(i);
            if (ready.state() == RunState.READY && next.state() == RunState.RUNNING) {
                waits.add(new Wait(ready.at(), Duration.between(ready.at(), next.at())));
            }
        }
    }
}
