package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagEvent;
import dev.perdure.dag.DagEvent.What;
import dev.perdure.dag.DagRun;
import dev.perdure.dag.DagStatus;
import dev.perdure.dag.Outputs;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.ResultUnavailableException;
import dev.perdure.error.RunActiveException;
import dev.perdure.error.TerminalException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The status of a DAG's run, and reruns of a part of it. */
abstract class DagRepairScenarios extends Scenarios {
    /** Records which tasks ran, and decides whether charge works. */
    private static final class Shop {
        private final List<String> ran = new CopyOnWriteArrayList<>();
        private final AtomicBoolean broken = new AtomicBoolean(true);
        private final AtomicInteger handled = new AtomicInteger();

        private final Dag<String, String> dag = Dag.of("shop", String.class, builder -> {
            var check = builder.task("check", t -> ran("check"));
            var charge = builder.after(check).task("charge", (t, one) -> charge());
            var pack = builder.after(check).task("pack", (t, one) -> ran("pack"));
            builder.onFailure(t -> handled.incrementAndGet());
            return builder.after(charge, pack).task("ship", (t, one, two) -> ran("ship"));
        });

        private String ran(String what) {
            ran.add(what);
            return what + ran.size();
        }

        private String charge() {
            if (broken.get()) {
                throw new TerminalException("card refused");
            }
            return ran("charge");
        }
    }

    @ParameterizedTest
    @EnumSource
    void only_the_failed_and_what_comes_after_them_run_again(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Shop shop = new Shop();
            perdure.register(shop.dag);
            DagRun<String> run = perdure.start(shop.dag, "x", id("g"));
            assertThatThrownBy(run::result).hasMessageContaining("card refused");
            shop.broken.set(false);
            run.retryFailed();
            assertThat(run.result()).isEqualTo("ship4");
            assertThat(shop.ran).containsExactly("check", "pack", "charge", "ship");
            assertThat(run.state()).isEqualTo(RunState.COMPLETED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_fails_again_is_handled_again(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Shop shop = new Shop();
            perdure.register(shop.dag);
            DagRun<String> run = perdure.start(shop.dag, "x", id("g"));
            assertThatThrownBy(run::result).hasMessageContaining("card refused");
            run.retryFailed();
            assertThatThrownBy(run::result).hasMessageContaining("card refused");
            assertThat(shop.handled).hasValue(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_chosen_task_and_what_comes_after_it_run_again(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Shop shop = new Shop();
            shop.broken.set(false);
            perdure.register(shop.dag);
            DagRun<String> run = perdure.start(shop.dag, "x", id("g"));
            assertThat(run.result()).isEqualTo("ship4");
            run.rerun("pack");
            assertThat(run.result()).isEqualTo("ship6");
            assertThat(shop.ran.subList(4, 6)).containsExactly("pack", "ship");
        }
    }

    @ParameterizedTest
    @EnumSource
    void items_of_a_map_run_again_too(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger bodies = new AtomicInteger();
            Dag<String, Integer> dag = Dag.of("again", String.class, builder -> {
                var letters = builder.task("letters", t -> List.of("a", "b")).returning(new TypeRef<List<String>>() {});
                var each = builder.forEach(letters).task("each", (t, letter) -> letter + bodies.incrementAndGet());
                return builder.after(each).task("count", (t, all) -> all.size());
            });
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x", id("g"));
            assertThat(run.result()).isEqualTo(2);
            run.rerun("each");
            assertThat(run.result()).isEqualTo(2);
            assertThat(bodies).hasValue(4);
        }
    }

    @ParameterizedTest
    @EnumSource
    void nothing_begins_anew_while_the_run_is_active(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, Integer> dag = Dag.of("slow", String.class, builder -> {
                var first = builder.task("first", t -> 1);
                return builder.after(first).task("second", (t, one) -> 2).waitFor(Duration.ofHours(1));
            });
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x", id("g"));
            perdure.settle();
            assertThatThrownBy(() -> run.rerun("first"))
                    .isInstanceOf(RunActiveException.class)
                    .hasMessage(
                            "Run 'g' is PENDING. Tasks can be begun anew only when it has ended: wait, or cancel it.");
            assertThat(run.result()).isEqualTo(2);
            assertThatThrownBy(() -> run.rerun("third"))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("Run 'g' has no task 'third'.");
            assertThatThrownBy(run::retryFailed)
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("Run 'g' has no task that failed or was cancelled.");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_cancelled_run_can_be_gone_on_with(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, Integer> dag = Dag.of("slow", String.class, builder -> {
                var first = builder.task("first", t -> 1);
                return builder.after(first).task("second", (t, one) -> one + 1).waitFor(Duration.ofHours(1));
            });
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x", id("g"));
            perdure.settle();
            run.cancel("not now");
            assertThatThrownBy(run::result).hasMessageContaining("CANCELLED: not now");
            run.retryFailed();
            assertThat(run.result()).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_changed_definition_does_not_change_the_dag_of_a_run_that_is_repaired(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, Integer> older = Dag.of("changing", String.class, builder -> {
                var first = builder.task("first", t -> 1);
                return builder.after(first).task("last", (t, one) -> broken());
            });
            Dag<String, Integer> newer = Dag.of("changing", String.class, builder -> {
                var first = builder.task("first", t -> 100);
                var more = builder.after(first).task("more", (t, one) -> one);
                return builder.after(first).task("last", (t, one) -> one + 1).alsoAfter(more);
            });
            perdure.register(older);
            DagRun<Integer> run = perdure.start(older, "x", id("g"));
            assertThatThrownBy(run::result).hasMessageContaining("broken");
            perdure.deploy(newer);
            perdure.run(RunId.of("g"), TypeRef.of(Object.class)).dag(newer).retryFailed();
            assertThat(run.result()).isEqualTo(2);
            assertThat(run.status().tasks()).extracting(task -> task.name()).containsExactly("first", "last");
        }
    }

    private static int broken() {
        throw new TerminalException("broken");
    }

    // ---- status

    @ParameterizedTest
    @EnumSource
    void status_shows_every_task_its_output_and_what_happened(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Shop shop = new Shop();
            perdure.register(shop.dag);
            DagRun<String> run = perdure.start(shop.dag, "x", id("g"));
            Outputs outputs = run.outputs(Duration.ofHours(1));
            assertThat(outputs.tasks()).containsExactly("check", "pack");
            assertThat(outputs.get("check", TypeRef.of(String.class))).isEqualTo("check1");
            assertThatThrownBy(() -> outputs.get("ship", TypeRef.of(String.class)))
                    .isInstanceOf(ResultUnavailableException.class)
                    .hasMessageContaining("Task 'ship' of DAG 'shop' has no output.");
            DagStatus status = run.status();
            assertThat(status.task("ship").orElseThrow().after()).containsExactly("charge", "pack");
            assertThat(status.task("charge").orElseThrow().attempts()).isEqualTo(1);
            assertThat(status.task("charge").orElseThrow().endedAt()).contains(perdure.now());
            assertThat(happened(status, "check")).endsWith(What.COMPLETED).contains(What.STARTED);
            assertThat(happened(status, "charge")).endsWith(What.FAILED);
            assertThat(happened(status, "ship")).startsWith(What.PENDING).endsWith(What.CANCELLED);
            assertThat(status.toText()).isEqualTo("""
                shop g  FAILED
                  check      COMPLETED
                  charge     FAILED       after check  (dev.perdure.error.TerminalException: card refused)
                  pack       COMPLETED    after check
                  ship       CANCELLED    after charge, pack  (because task 'charge' failed: dev.perdure.error.TerminalException: card refused)
                  onFailure  COMPLETED    after ship
                """);
            assertThat(status.toMermaid()).contains("t2[\"charge<br/>FAILED\"]").contains("t2 --> t4");
            assertThat(status.toGraphviz()).contains("t2 [label=\"charge\\nFAILED\"];");
        }
    }

    private static List<What> happened(DagStatus status, String task) {
        return status.events().stream()
                .filter(event -> event.task().equals(task))
                .map(DagEvent::what)
                .toList();
    }

    @ParameterizedTest
    @EnumSource
    void a_retry_is_in_the_log_with_its_reason(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger attempts = new AtomicInteger();
            List<String> details = new ArrayList<>();
            Dag<String, Integer> dag = Dag.of(
                    "flaky",
                    String.class,
                    builder -> builder.task("only", t -> {
                        if (attempts.incrementAndGet() == 1) {
                            throw new IllegalStateException("once");
                        }
                        return 1;
                    }));
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x", id("g"));
            assertThat(run.result()).isEqualTo(1);
            run.status().events().stream()
                    .filter(event -> event.what() == What.RETRIED)
                    .forEach(event -> details.add(event.detail()));
            assertThat(details).containsExactly("java.lang.IllegalStateException: once");
            assertThat(run.status().toText()).contains("(2 attempts)");
        }
    }
}
