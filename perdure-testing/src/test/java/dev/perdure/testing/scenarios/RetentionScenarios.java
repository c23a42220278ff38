package dev.perdure.testing.scenarios;

import static dev.perdure.ChildOptions.childId;
import static dev.perdure.StartOptions.id;
import static dev.perdure.retention.Retention.runs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Published;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.Topic;
import dev.perdure.error.UnknownRunException;
import dev.perdure.retention.Retention;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs that are removed when their retention is over. */
abstract class RetentionScenarios extends Scenarios {
    private static final Duration DAY = Duration.ofDays(1);
    private static final Topic<Integer> PERCENT = Topic.of("percent", Integer.class);
    private static final Definition<String, String> PART = workflow("part", (ctx, in) -> {
        ctx.step("work", () -> {});
        return in + " done";
    });

    @ParameterizedTest
    @EnumSource
    void an_id_is_free_again_with_those_of_its_children(TestMode mode) {
        AtomicInteger bodies = new AtomicInteger();
        Definition<String, String> flow = workflow("order", (ctx, in) -> {
            ctx.step("count", () -> {
                bodies.incrementAndGet();
            });
            return ctx.startChild(Invocation.of(PART, in), childId("order-part"))
                    .await();
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow, PART).retention(Retention.of(DAY));
            for (int day = 1; day <= 3; day++) {
                Run<String> run = perdure.start(Invocation.of(flow, "day " + day), id("order"));
                assertThat(run.result()).isEqualTo("day " + day + " done");
                perdure.removeOldRuns();
                assertThat(perdure.runs(RunFilter.all()).list()).hasSize(2);
                perdure.advance(DAY);
                perdure.removeOldRuns();
                assertThat(perdure.runs(RunFilter.all()).list()).isEmpty();
            }
            assertThat(bodies).hasValue(3);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_handle_says_that_its_run_is_gone(TestMode mode) {
        Definition<String, String> flow = workflow("order", (ctx, in) -> {
            ctx.publish(PERCENT, 50);
            return in;
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow).retention(Retention.of(DAY));
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("order"));
            Iterator<Published<Integer>> stream = run.follow(PERCENT, 0);
            assertThat(run.result()).isEqualTo("x");
            perdure.advance(DAY);
            perdure.removeOldRuns();
            String gone =
                    "Run 'order' no longer exists: it has ended, and its retention is over. Keep such runs for longer if you need their results later.";
            assertThatThrownBy(run::result)
                    .isInstanceOf(UnknownRunException.class)
                    .hasMessage(gone);
            assertThatThrownBy(run::state)
                    .isInstanceOf(UnknownRunException.class)
                    .hasMessage(gone);
            assertThatThrownBy(stream::hasNext)
                    .isInstanceOf(UnknownRunException.class)
                    .hasMessage(gone);
            assertThatThrownBy(() -> run.cancel("late")).isInstanceOf(UnknownRunException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_start_under_a_remembered_id_gets_the_first_result(TestMode mode) {
        AtomicInteger bodies = new AtomicInteger();
        Definition<String, Integer> flow = Definition.of(
                "order", String.class, Integer.class, (ctx, in) -> ctx.step("count", bodies::incrementAndGet));
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow).retention(Retention.of(DAY).rememberIds(DAY.multipliedBy(30)));
            perdure.start(Invocation.of(flow, "x"), id("order")).result();
            perdure.advance(DAY.multipliedBy(2));
            perdure.removeOldRuns();
            Run<Integer> again = perdure.start(Invocation.of(flow, "x"), id("order"));
            assertThat(again.result()).isEqualTo(1);
            perdure.advance(DAY.multipliedBy(30));
            perdure.removeOldRuns();
            assertThat(perdure.start(Invocation.of(flow, "x"), id("order")).result())
                    .isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void workers_remove_old_runs_by_themselves(TestMode mode) {
        Definition<String, String> kept = workflow("kept", (ctx, in) -> in);
        Definition<String, String> passing = workflow("passing", (ctx, in) -> in);
        try (PerdureTest perdure = create(mode)) {
            perdure.register(kept, passing)
                    .retention(
                            Retention.of(Retention.FOREVER).keep(runs().definition("passing"), Duration.ofSeconds(1)));
            perdure.start(Invocation.of(kept, "x"), id("kept")).result();
            perdure.start(Invocation.of(passing, "x"), id("passing")).result();
            perdure.advance(Duration.ofSeconds(2));
            until(() -> perdure.runs(RunFilter.all()).list().size() == 1);
            assertThat(perdure.runs(RunFilter.all()).list())
                    .singleElement()
                    .satisfies(run -> assertThat(run.id().value()).isEqualTo("kept"));
        }
    }
}
