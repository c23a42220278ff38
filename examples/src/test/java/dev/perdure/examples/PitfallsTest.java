package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The pitfalls of {@code docs/guides/determinism.md}: for each one the wrong code and what happens, and the right code,
 * in every mode.
 */
class PitfallsTest {
    private static final TypeRef<Map<String, Integer>> STOCK = new TypeRef<>() {};
    private static final TypeRef<String> TEXT = TypeRef.of(String.class);

    private final AtomicBoolean config = new AtomicBoolean(true);
    private final AtomicReference<Instant> systemTime = new AtomicReference<>(Instant.parse("2030-01-01T00:00:00Z"));
    private final List<String> done = new CopyOnWriteArrayList<>();
    private PerdureTest perdure = PerdureTest.create();

    @AfterEach
    void close() {
        perdure.close();
    }

    private void in(TestMode mode) {
        perdure.close();
        perdure = PerdureTest.create(mode);
    }

    private String fetchTariff() {
        return "tariff";
    }

    private boolean featureEnabled() {
        return config.get();
    }

    private static boolean coin() {
        return ThreadLocalRandom.current().nextBoolean();
    }

    // ---- 1. a branch on a value that is not recorded

    // region config-wrong
    final Definition<String, String> configWrong = Definition.of("config", String.class, String.class, (ctx, user) -> {
        if (featureEnabled()) { // every replay reads it again
            ctx.step("feature", () -> done.add("feature"));
        }
        ctx.sleep(Duration.ofHours(1));
        return "done";
    });
    // endregion

    // region config-right
    final Definition<String, String> configRight = Definition.of("config", String.class, String.class, (ctx, user) -> {
        boolean enabled = ctx.step("read config", () -> featureEnabled()); // reads it once and records it
        if (enabled) {
            ctx.step("feature", () -> done.add("feature"));
        }
        ctx.sleep(Duration.ofHours(1));
        return "done";
    });
    // endregion

    @Test
    void a_branch_on_config_that_changed_is_found_out_and_resumes_with_the_old_config() {
        perdure.register(configWrong);
        Run<String> run = perdure.start(Invocation.of(configWrong, "ada"), id("ada"));
        perdure.settle();
        config.set(false);
        perdure.advance(Duration.ofHours(1));
        assertThat(run.state()).isEqualTo(RunState.PAUSED);
        // region message
        assertThat(run.info().reason())
                .hasValue("The code does not fit the journal of run 'ada' at position 1: recorded is step 'feature', "
                        + "the code asked for sleep of PT1H. Nothing was applied. Bring back the code that fits, or guard "
                        + "the change with ctx.patched(…), then resume the run.");
        // endregion
        config.set(true);
        run.resume();
        assertThat(run.result()).isEqualTo("done");
        assertThat(done).containsExactly("feature");
    }

    @ParameterizedTest
    @EnumSource
    void a_branch_on_recorded_config_takes_the_same_way_again(TestMode mode) {
        in(mode);
        perdure.register(configRight);
        Run<String> run = perdure.start(Invocation.of(configRight, "ada"));
        perdure.settle();
        config.set(false);
        assertThat(run.result()).isEqualTo("done");
    }

    // ---- 2. an order that is not fixed

    // region order-wrong
    final Definition<Map<String, Integer>, String> orderWrong = Definition.of("restock", STOCK, TEXT, (ctx, stock) -> {
        for (String item : Map.copyOf(stock).keySet()) { // the order differs between processes
            ctx.step("restock " + item, () -> done.add(item));
            ctx.sleep(Duration.ofHours(1));
        }
        return "done";
    });
    // endregion

    // region order-right
    final Definition<Map<String, Integer>, String> orderRight = Definition.of("restock", STOCK, TEXT, (ctx, stock) -> {
        for (String item : new TreeMap<>(stock).keySet()) {
            ctx.step("restock " + item, () -> done.add(item));
            ctx.sleep(Duration.ofHours(1));
        }
        return "done";
    });
    // endregion

    @ParameterizedTest
    @EnumSource
    void a_sorted_order_is_the_same_again(TestMode mode) {
        in(mode);
        perdure.register(orderRight);
        perdure.start(Invocation.of(orderRight, Map.of("pen", 1, "ink", 2, "book", 3)))
                .result();
        assertThat(done).containsExactly("book", "ink", "pen");
    }

    @Test
    void an_order_that_turns_is_found_out() {
        AtomicBoolean turned = new AtomicBoolean();
        Definition<String, String> restock = Definition.of("restock", String.class, String.class, (ctx, in) -> {
            for (String item : turned.get() ? List.of("ink", "pen") : List.of("pen", "ink")) {
                ctx.step("restock " + item, () -> done.add(item));
                ctx.sleep(Duration.ofHours(1));
            }
            return "done";
        });
        perdure.register(restock);
        Run<String> run = perdure.start(Invocation.of(restock, ""));
        perdure.settle();
        turned.set(true);
        perdure.advance(Duration.ofHours(1));
        assertThat(run.info().reason().orElseThrow())
                .contains("recorded is step 'restock pen', the code asked for step 'restock ink'");
        assertThat(done).containsExactly("pen");
    }

    // ---- 3. random numbers

    // region chance-wrong
    final Definition<String, String> chanceWrong = Definition.of("chance", String.class, String.class, (ctx, in) -> {
        if (coin()) {
            ctx.sleep(Duration.ofSeconds(5)); // sometimes position 1, sometimes missing
        }
        ctx.sleep(Duration.ofSeconds(10)); // sometimes position 2, sometimes 1
        return "done";
    });
    // endregion

    // region chance-right
    final Definition<String, String> chanceRight = Definition.of("chance", String.class, String.class, (ctx, in) -> {
        if (ctx.random().nextBoolean()) { // the same numbers on every replay
            ctx.sleep(Duration.ofSeconds(5));
        }
        ctx.sleep(Duration.ofSeconds(10));
        return "done";
    });
    // endregion

    @Test
    void a_sleep_that_chance_leaves_out_is_found_out_by_its_duration() {
        AtomicBoolean heads = new AtomicBoolean(true);
        Definition<String, String> chance = Definition.of("chance", String.class, String.class, (ctx, in) -> {
            if (heads.get()) {
                ctx.sleep(Duration.ofSeconds(5));
            }
            ctx.sleep(Duration.ofSeconds(10));
            return "done";
        });
        perdure.register(chance);
        Run<String> run = perdure.start(Invocation.of(chance, ""));
        perdure.settle();
        heads.set(false);
        perdure.advance(Duration.ofSeconds(5));
        assertThat(run.info().reason().orElseThrow())
                .contains("at position 1: recorded is sleep of PT5S, the code asked for sleep of PT10S");
    }

    @ParameterizedTest
    @EnumSource
    void chance_from_the_context_is_the_same_again(TestMode mode) {
        in(mode);
        perdure.register(chanceRight);
        for (int i = 0; i < 10; i++) {
            assertThat(perdure.start(Invocation.of(chanceRight, "")).result()).isEqualTo("done");
        }
    }

    // ---- 4. time

    // region time-wrong
    final Definition<Instant, String> timeWrong = Definition.of("time", Instant.class, String.class, (ctx, opening) -> {
        ctx.sleep(Duration.between(systemTime.get(), opening)); // a different duration on every replay
        return "open";
    });
    // endregion

    // region time-right
    final Definition<Instant, String> timeRight = Definition.of("time", Instant.class, String.class, (ctx, opening) -> {
        ctx.sleep(Duration.between(ctx.now(), opening)); // now() is recorded
        return "open";
    });
    // endregion

    @Test
    void a_duration_from_the_system_clock_is_found_out() {
        perdure.register(timeWrong);
        Run<String> run = perdure.start(Invocation.of(timeWrong, Instant.parse("2030-01-01T08:00:00Z")));
        perdure.settle();
        systemTime.set(Instant.parse("2030-01-01T08:00:00Z"));
        perdure.advance(Duration.ofHours(8));
        assertThat(run.info().reason().orElseThrow())
                .contains("recorded is sleep of PT8H, the code asked for sleep of PT0S");
    }

    @ParameterizedTest
    @EnumSource
    void a_duration_from_the_context_is_the_same_again(TestMode mode) {
        in(mode);
        perdure.register(timeRight);
        assertThat(perdure.start(Invocation.of(timeRight, Instant.parse("2030-01-01T08:00:00Z")))
                        .result())
                .isEqualTo("open");
        assertThat(perdure.now()).isEqualTo("2030-01-01T08:00:00Z");
    }

    // ---- 5. a variable that a step body changes

    // region variable-wrong
    final Definition<String, Integer> variableWrong =
            Definition.of("variable", String.class, Integer.class, (ctx, in) -> {
                List<String> tariffs = new ArrayList<>();
                ctx.step("fetch", () -> tariffs.add(fetchTariff())); // a replay does not run the body
                ctx.sleep(Duration.ofHours(1));
                return tariffs.size(); // 1 without a replay, 0 after one
            });
    // endregion

    // region variable-right
    final Definition<String, Integer> variableRight =
            Definition.of("variable", String.class, Integer.class, (ctx, in) -> {
                List<String> tariffs = new ArrayList<>();
                tariffs.add(ctx.step("fetch", () -> fetchTariff())); // a replay returns the recorded value
                ctx.sleep(Duration.ofHours(1));
                return tariffs.size();
            });
    // endregion

    @Test
    void what_a_body_left_in_a_variable_is_gone_after_a_replay() {
        perdure.register(variableWrong);
        assertThat(perdure.start(Invocation.of(variableWrong, "")).result()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void what_a_step_returned_is_there_after_a_replay(TestMode mode) {
        in(mode);
        perdure.register(variableRight);
        assertThat(perdure.start(Invocation.of(variableRight, "")).result()).isEqualTo(1);
    }

    // ---- 6. an exception that must not be caught

    // region unwind-wrong
    final Definition<String, String> unwindWrong = Definition.of("unwind", String.class, String.class, (ctx, in) -> {
        try {
            ctx.sleep(Duration.ofHours(1));
        } finally {
            done.add("finally"); // also runs when the run leaves memory, an hour before the sleep ends
        }
        return "done";
    });
    // endregion

    @Test
    void a_finally_block_runs_when_the_run_leaves_memory_too() {
        perdure.register(unwindWrong);
        Run<String> run = perdure.start(Invocation.of(unwindWrong, ""));
        perdure.settle();
        assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
        assertThat(done).containsExactly("finally");
        assertThat(run.result()).isEqualTo("done");
        assertThat(done).containsExactly("finally", "finally");
    }
}
