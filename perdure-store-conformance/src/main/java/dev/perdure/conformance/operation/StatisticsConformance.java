package dev.perdure.conformance.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.conformance.StoreConformance;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.statistics.Statistics.Histogram;
import dev.perdure.spi.statistics.Statistics.Rates;
import dev.perdure.spi.statistics.Statistics.Second;
import dev.perdure.spi.statistics.Statistics.Seen;
import dev.perdure.spi.statistics.Statistics.Span;
import dev.perdure.spi.statistics.Statistics.StepTime;
import dev.perdure.spi.statistics.Statistics.Wait;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What stores read of many runs at once. */
public abstract class StatisticsConformance extends StoreConformance {
    private static final RunFilter ALL = RunFilter.all();
    private static final Duration DAY = Duration.ofDays(1);

    /** For subclasses. */
    protected StatisticsConformance() {}

    private static final Move FAIL = new Move.End(RunState.FAILED, Payload.EMPTY, "java.lang.Error: no");

    private RunRef ended(WorkerId worker, String id, Move end) {
        RunRef run = startOwned(worker, id);
        apply(worker, advance(run, 1, end));
        return run;
    }

    private List<String> newest(RunFilter filter, Duration within, int limit) {
        return store().statistics().newest(filter, within, limit).stream()
                .map(seen -> seen.run().id().value())
                .toList();
    }

    @Test
    void the_newest_runs_of_a_filter_are_found_in_short() {
        WorkerId worker = join();
        ended(worker, "old", complete("1"));
        advance(DAY);
        RunRef first = startOwned(worker, "first");
        advance(Duration.ofSeconds(7));
        apply(worker, advance(first, 1, complete("1")));
        ended(worker, "second", FAIL);
        startReady(withDefinition(newRun("other"), "other"));

        assertThat(newest(ALL, DAY, 10)).containsExactly("second", "other", "first");
        assertThat(newest(ALL, DAY.plusSeconds(7), 10)).containsExactly("second", "other", "first", "old");
        assertThat(newest(ALL, DAY, 1)).containsExactly("second");
        assertThat(newest(ALL.definition(DEFINITION).state(RunState.COMPLETED), DAY, 10))
                .containsExactly("first");
        assertThat(newest(ALL.oldestFirst().limit(1), DAY, 2)).containsExactly("second", "other");
        Seen seen = store().statistics().newest(ALL, DAY, 3).getLast();
        assertThat(seen).isEqualTo(new Seen(first, DEFINITION, RunState.COMPLETED, now().minusSeconds(7), now()));
    }

    @Test
    void a_step_takes_from_what_its_run_recorded_before_it_to_its_answer() {
        WorkerId worker = join();
        startReady("a");
        advance(Duration.ofSeconds(50));
        RunRef run = claimOne(worker).run();
        advance(Duration.ofSeconds(2));
        apply(worker, advance(run, 1, STAY, step(1, "1")));
        advance(Duration.ofSeconds(1));
        apply(
                worker,
                advance(
                        run,
                        1,
                        STAY,
                        new Entry(2, 1, Entry.Kind.STEP, "pay", Entry.Status.ATTEMPT, payload("{}")),
                        new Entry(3, Entry.ANSWER, Entry.Kind.NOW, "", Entry.Status.VALUE, payload("1"))));
        advance(Duration.ofSeconds(4));
        apply(
                worker,
                advance(
                        run,
                        1,
                        FAIL,
                        new Entry(
                                2, Entry.ANSWER, Entry.Kind.TRANSACTION, "pay", Entry.Status.FAILURE, payload("{}"))));
        RunRef other = startOwned(worker, "b");
        advance(Duration.ofMillis(1_500));
        apply(worker, advance(other, 1, sleep(Duration.ofDays(1)), step(1, "1")));

        assertThat(store().statistics().steps(List.of(run), 10))
                .containsExactlyInAnyOrder(
                        new StepTime("step1", false, Duration.ofSeconds(2)),
                        new StepTime("pay", true, Duration.ofSeconds(4)));
        assertThat(store().statistics().steps(List.of(run, other), 1))
                .containsExactlyInAnyOrder(
                        new StepTime("step1", false, Duration.ofSeconds(2)),
                        new StepTime("step1", false, Duration.ofMillis(1_500)));
        assertThat(store().statistics().steps(List.of(), 10)).isEmpty();
    }

    @Test
    void starts_and_ends_are_counted_by_second() {
        WorkerId worker = join();
        RunRef old = startOwned(worker, "old");
        advance(Duration.ofMinutes(10));
        ended(worker, "a", complete("1"));
        ended(worker, "b", FAIL);
        advance(Duration.ofMillis(1_250));
        RunRef later = startOwned(worker, "c");
        advance(Duration.ofSeconds(2));
        apply(worker, advance(later, 1, complete("1")));
        apply(worker, advance(old, 1, FAIL));
        advance(Duration.ofSeconds(1));
        startReady("in a second that is not over");

        Rates rates = store().statistics().rates(60, 100);
        assertThat(rates.to()).isEqualTo(BEGINNING.plusSeconds(604));
        assertThat(rates.from()).isEqualTo(BEGINNING.plusSeconds(544));
        assertThat(rates.seconds().stream().filter(second -> second.started() > 0))
                .containsExactly(
                        new Second(BEGINNING.plusSeconds(600), 2, 2, 1),
                        new Second(BEGINNING.plusSeconds(601), 1, 0, 0));
        Second last = rates.seconds().getLast();
        assertThat(last.begin()).isEqualTo(BEGINNING.plusSeconds(603));
        // A store that cannot find the end of a run that was started long ago says so.
        assertThat(last.ended()).isEqualTo(rates.more() ? 1 : 2);
        assertThat(last.failed()).isEqualTo(rates.more() ? 0 : 1);
    }

    @Test
    void rates_cover_less_time_if_more_runs_were_started_than_are_looked_at() {
        for (int i = 0; i < 5; i++) {
            startReady("run-" + i);
            advance(Duration.ofSeconds(1));
        }

        Rates rates = store().statistics().rates(60, 2);
        assertThat(rates.from()).isEqualTo(BEGINNING.plusSeconds(3));
        assertThat(rates.to()).isEqualTo(BEGINNING.plusSeconds(5));
        assertThat(rates.seconds())
                .containsExactly(
                        new Second(BEGINNING.plusSeconds(3), 1, 0, 0), new Second(BEGINNING.plusSeconds(4), 1, 0, 0));
    }

    @Test
    void nothing_has_happened_in_an_empty_store() {
        advance(Duration.ofMillis(300));
        Rates rates = store().statistics().rates(10, 100);
        assertThat(rates.seconds()).isEmpty();
        assertThat(rates.from()).isEqualTo(BEGINNING.minusSeconds(10));
        assertThat(rates.to()).isEqualTo(BEGINNING);
        assertThat(newest(ALL, DAY, 10)).isEmpty();
    }

    @Test
    void runs_are_counted_over_time_by_creation_or_end() {
        WorkerId worker = join();
        ended(worker, "a", complete("1"));
        ended(worker, "b", FAIL);
        advance(Duration.ofMinutes(1));
        RunRef waits = startOwned(worker, "c");
        ended(worker, "d", complete("1"));
        startReady(withDefinition(newRun("other"), "other"));
        advance(Duration.ofMinutes(1));
        apply(worker, advance(waits, 1, complete("1")));
        startReady("behind the last bar");
        Span created = new Span(BEGINNING, BEGINNING.plusSeconds(120), 4, false);
        Span ended = new Span(BEGINNING, BEGINNING.plusSeconds(150), 5, true);

        Histogram all = store().statistics().histogram(ALL, created);
        assertThat(all.bars())
                .containsExactly(
                        Map.of(RunState.COMPLETED, 1L, RunState.FAILED, 1L),
                        Map.of(),
                        Map.of(RunState.COMPLETED, 2L, RunState.READY, 1L),
                        Map.of());
        assertThat(all.sampled()).isEqualTo(1);
        assertThat(all.more()).isFalse();
        assertThat(store().statistics()
                        .histogram(ALL.definition("other").limit(1), created)
                        .bars())
                .containsExactly(Map.of(), Map.of(), Map.of(RunState.READY, 1L), Map.of());
        assertThat(store().statistics()
                        .histogram(ALL.state(RunState.COMPLETED, RunState.READY), ended)
                        .bars())
                .containsExactly(
                        Map.of(RunState.COMPLETED, 1L),
                        Map.of(),
                        Map.of(RunState.COMPLETED, 1L),
                        Map.of(),
                        Map.of(RunState.COMPLETED, 1L));
        assertThat(store().statistics()
                        .histogram(ALL.created(BEGINNING, BEGINNING.plusSeconds(1)), created)
                        .bars()
                        .get(2))
                .isEmpty();
    }

    @Test
    void runs_tell_how_long_they_were_ready_until_a_worker_took_them() {
        WorkerId worker = join();
        RunRef owned = startOwned(worker, "was never ready");
        startReady("runs");
        advance(Duration.ofSeconds(3));
        claimOne(worker);
        startReady("ended");
        advance(Duration.ofMillis(2_500));
        RunRef ended = claimOne(worker).run();
        advance(Duration.ofSeconds(1));
        apply(worker, advance(ended, 1, complete("1")));
        apply(worker, advance(owned, 1, sleep(Duration.ofSeconds(10)), step(1, "1")));
        advance(Duration.ofSeconds(10));
        Instant woken = now();
        polled(worker, 0); // makes it ready
        advance(Duration.ofSeconds(1));
        claimOne(worker);
        startReady("is ready");
        Span span = new Span(BEGINNING, BEGINNING.plusSeconds(40), 20, false);

        assertThat(store().statistics().waits(span, 10))
                .containsExactlyInAnyOrder(
                        new Wait(BEGINNING, Duration.ofSeconds(3)),
                        new Wait(BEGINNING.plusSeconds(3), Duration.ofMillis(2_500)),
                        new Wait(woken, Duration.ofSeconds(1)));
        assertThat(store().statistics().waits(span, 1)).hasSize(2);
        assertThat(store().statistics()
                        .waits(new Span(BEGINNING.plusSeconds(2), BEGINNING.plusSeconds(4), 1, false), 10))
                .containsExactly(new Wait(BEGINNING.plusSeconds(3), Duration.ofMillis(2_500)));
    }
}
