package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.HistoryEvent;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunCount;
import dev.perdure.RunFilter;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class ListingScenarios extends Scenarios {
    private static final Definition<String, String> QUICK = workflow("quick", (ctx, in) -> in);
    private static final Definition<String, String> SLOW = workflow("slow", (ctx, in) -> {
        ctx.sleep(Duration.ofDays(10));
        return in;
    });
    private static final Definition<String, String> BAD = workflow("bad", (ctx, in) -> {
        throw new IllegalStateException("as told");
    });

    private static List<String> ids(List<RunInfo> runs) {
        return runs.stream().map(run -> run.id().value()).toList();
    }

    @ParameterizedTest
    @EnumSource
    void runs_are_listed_newest_first_by_state_definition_and_time(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(QUICK, SLOW, BAD);
            Instant begin = perdure.now();
            perdure.start(Invocation.of(QUICK, "x"), id("q1"));
            perdure.advance(Duration.ofMinutes(1));
            perdure.start(Invocation.of(SLOW, "x"), id("s1"));
            perdure.advance(Duration.ofMinutes(1));
            perdure.start(Invocation.of(BAD, "x"), id("b1"));
            perdure.advance(Duration.ofMinutes(1));
            perdure.start(Invocation.of(QUICK, "x"), id("q2"));
            perdure.settle();

            assertThat(ids(perdure.runs(RunFilter.all()).list())).containsExactly("q2", "b1", "s1", "q1");
            assertThat(ids(perdure.runs(RunFilter.all().definition("quick")).list()))
                    .containsExactly("q2", "q1");
            assertThat(ids(perdure.runs(RunFilter.all().state(RunState.SUSPENDED))
                            .list()))
                    .containsExactly("s1");
            assertThat(ids(perdure.runs(RunFilter.all().state(RunState.FAILED)).list()))
                    .containsExactly("b1");
            RunFilter middle =
                    RunFilter.all().created(begin.plus(Duration.ofMinutes(1)), begin.plus(Duration.ofMinutes(3)));
            assertThat(ids(perdure.runs(middle).list())).containsExactly("b1", "s1");
            assertThat(perdure.runs(middle.state(RunState.COMPLETED)).list()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void pages_follow_each_other_without_gap_or_repeat(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(QUICK);
            for (int i = 0; i < 25; i++) {
                perdure.start(Invocation.of(QUICK, "x"), id("run-" + i));
                if (i % 3 == 0) { // several runs have the same age
                    perdure.advance(Duration.ofSeconds(1));
                }
            }
            perdure.settle();
            List<RunInfo> all = perdure.runs(RunFilter.all()).list();
            List<RunInfo> paged = new ArrayList<>();
            RunFilter filter = RunFilter.all().limit(4);
            List<RunInfo> page = perdure.runs(filter).list();
            while (!page.isEmpty()) {
                assertThat(page.size()).isLessThanOrEqualTo(4);
                paged.addAll(page);
                perdure.start(Invocation.of(QUICK, "x"), id("meanwhile-" + paged.size()));
                page = perdure.runs(filter.after(page.getLast())).list();
            }
            assertThat(ids(paged)).hasSize(25).isEqualTo(ids(all));
        }
    }

    @ParameterizedTest
    @EnumSource
    void runs_are_found_by_their_end_their_reason_and_their_id_and_counted(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(QUICK, SLOW, BAD);
            Instant begin = perdure.now();
            perdure.start(Invocation.of(SLOW, "x"), id("order-1"));
            perdure.start(Invocation.of(BAD, "x"), id("order-2"));
            perdure.start(Invocation.of(QUICK, "x"), id("other-1"));
            perdure.settle();
            perdure.advance(Duration.ofDays(11));

            assertThat(ids(perdure.runs(RunFilter.all().ended(begin.plus(Duration.ofDays(1)), Instant.MAX))
                            .list()))
                    .containsExactly("order-1");
            assertThat(ids(perdure.runs(RunFilter.all().reason("java.lang.IllegalStateException: as"))
                            .list()))
                    .containsExactly("order-2");
            assertThat(ids(perdure.runs(RunFilter.all().idPrefix("order-").oldestFirst())
                            .list()))
                    .containsExactly("order-1", "order-2");
            assertThat(perdure.runs(RunFilter.all().limit(1)).count())
                    .containsOnly(
                            Map.entry(RunState.COMPLETED, new RunCount(2, false)),
                            Map.entry(RunState.FAILED, new RunCount(1, false)));
        }
    }

    @Test
    void a_filter_that_cannot_be_meant_is_refused() {
        assertThatThrownBy(() -> RunFilter.all().state())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("The filter names no state. Give at least one, or leave state(…) out.");
        assertThatThrownBy(() -> RunFilter.all().idPrefix(""))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("The prefix of the id is empty. Give it a non-empty text.");
        assertThatThrownBy(() -> RunFilter.all().reason("r".repeat(201)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("has 201 characters; at most 200 are allowed");
        for (UnaryOperator<RunFilter> odd : List.<UnaryOperator<RunFilter>>of(
                filter -> filter.definition("a\0b"),
                filter -> filter.queue("a\0b"),
                filter -> filter.key("a\0b"),
                filter -> filter.version("a\0b"))) {
            assertThatThrownBy(() -> odd.apply(RunFilter.all()))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("holds the character U+0000 at index 1, which cannot be stored as text.");
        }
    }

    @Test
    void a_count_beyond_the_bound_says_only_that_there_are_more() {
        assertThat(RunCount.seen(10_000)).hasToString("10000");
        assertThat(RunCount.seen(10_001)).isEqualTo(new RunCount(10_000, true)).hasToString("more than 10000");
    }

    @ParameterizedTest
    @EnumSource
    void a_limit_out_of_range_is_refused(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(QUICK);
            for (int bad : List.of(0, -1, 10_001)) {
                assertThatThrownBy(() -> RunFilter.all().limit(bad))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining("The limit is " + bad);
            }
            assertThat(perdure.runs(RunFilter.all().limit(10_000)).list()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_history_tells_the_journal_and_the_changes_of_state(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("story", (ctx, in) -> {
                ctx.step("one", () -> {});
                ctx.sleep(Duration.ofHours(1));
                ctx.step("two", () -> {});
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            assertThat(run.result()).isEqualTo("x");
            assertThat(run.history())
                    .filteredOn(event -> event.position() > 0)
                    .extracting(event -> event.position() + " " + event.text() + " " + event.at())
                    .containsExactly(
                            "1 step 'one' completed 2030-01-01T00:00:00Z",
                            "2 sleep of PT1H began 2030-01-01T00:00:00Z",
                            "3 step 'two' completed 2030-01-01T01:00:00Z");
            assertThat(run.history())
                    .filteredOn(event -> event.position() == 0)
                    .extracting(event -> event.text())
                    .contains("run is RUNNING", "run is SUSPENDED", "run is READY", "run is COMPLETED")
                    .endsWith("run is COMPLETED");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_history_has_what_a_commit_records_before_the_state_that_it_enters(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("ordered", (ctx, in) -> {
                ctx.sleep(Duration.ofHours(1));
                ctx.now();
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            assertThat(run.result()).isEqualTo("x");
            List<String> history = run.history().stream()
                    .map(event -> event.kind() == HistoryEvent.Kind.RUN
                            ? event.name()
                            : event.kind().name())
                    .toList();
            assertThat(history.indexOf("RUNNING")).isLessThan(history.indexOf("SLEEP"));
            assertThat(history.indexOf("SLEEP")).isLessThan(history.indexOf("SUSPENDED"));
            assertThat(history).endsWith("NOW", "COMPLETED");
        }
    }
}
