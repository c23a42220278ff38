package dev.perdure.testing.scenarios;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.error.CancelledException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.StepFailedException;
import dev.perdure.error.StoreException;
import dev.perdure.spi.Transacted;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import dev.perdure.transaction.TransactionOptions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How the engine handles the outcomes of transactions, in any database. */
abstract class TransactionScenarios extends Scenarios {
    private final Exception trouble = new IllegalStateException("the database says so");
    private static final TransactionOptions ONCE = TransactionOptions.defaults().retry(RetryPolicy.none());

    private final Vault vault = new Vault();
    private final AtomicInteger bodies = new AtomicInteger();
    private final List<Integer> attempts = new CopyOnWriteArrayList<>();

    private int count(Map<String, Integer> numbers) {
        bodies.incrementAndGet();
        return numbers.merge("count", 1, Integer::sum);
    }

    /** Counts once in a transaction and then waits, so that the engine replays it. */
    private Definition<String, String> counting() {
        return workflow("count", (ctx, in) -> {
            int count = ctx.transaction(
                    "count",
                    vault,
                    numbers -> {
                        attempts.add(ctx.attempt().number());
                        return count(numbers);
                    },
                    ONCE);
            ctx.sleep(Duration.ofHours(1));
            return in + count;
        });
    }

    private String counted(PerdureTest perdure) {
        Definition<String, String> flow = counting();
        perdure.register(flow);
        return perdure.start(Invocation.of(flow, "x")).result();
    }

    @ParameterizedTest
    @EnumSource
    void a_transaction_takes_effect_once_and_gives_the_same_on_every_replay(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = counting();
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            perdure.crash();
            assertThat(run.result()).isEqualTo("x1");
            assertThat(vault.number("count")).isEqualTo(1);
            assertThat(bodies).hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void what_loses_against_others_or_finds_no_database_is_the_same_attempt_again(TestMode mode) {
        vault.refuse(new Transacted.Conflict(trouble), new Transacted.Unavailable(trouble));
        try (PerdureTest perdure = create(mode)) {
            assertThat(counted(perdure)).isEqualTo("x1");
            assertThat(attempts).containsExactly(1, 1, 1);
            assertThat(vault.number("count")).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_transaction_that_was_idle_for_too_long_is_an_attempt_that_failed(TestMode mode) {
        vault.refuse(new Transacted.Expired(Duration.ofSeconds(7), trouble));
        try (PerdureTest perdure = create(mode)) {
            assertThatThrownBy(() -> counted(perdure))
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining("Transaction step 'count' left its transaction idle for longer than PT7S");
            assertThat(attempts).containsExactly(1);
            assertThat(vault.number("count")).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_commit_in_doubt_is_asked_about_until_it_is_known(TestMode mode) {
        AtomicInteger asked = new AtomicInteger();
        vault.end(committed -> inDoubt(asked, committed));
        try (PerdureTest perdure = create(mode)) {
            assertThat(counted(perdure)).isEqualTo("x1");
            assertThat(bodies).hasValue(1);
            assertThat(asked).hasValue(2);
        }
    }

    /** An inquiry whose first attempt gets no answer. */
    private static Transacted inDoubt(AtomicInteger asked, Transacted known) {
        return new Transacted.InDoubt(() -> {
            if (asked.incrementAndGet() == 1) {
                throw new StoreException(StoreException.Kind.UNAVAILABLE, "away", null);
            }
            return known;
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_commit_in_doubt_that_was_none_is_done_again(TestMode mode) {
        Transacted rolledBack = new Transacted.Unavailable(trouble);
        vault.refuse(new Transacted.InDoubt(() -> new Transacted.InDoubt(() -> rolledBack)));
        try (PerdureTest perdure = create(mode)) {
            assertThat(counted(perdure)).isEqualTo("x1");
            assertThat(bodies).hasValue(2);
            assertThat(vault.number("count")).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_crash_after_the_commit_and_before_the_record_repeats_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            vault.end(committed -> {
                perdure.crashAll();
                perdure.startWorker();
                return committed;
            });
            assertThat(counted(perdure)).isEqualTo("x1");
            assertThat(bodies).hasValue(1);
            assertThat(vault.number("count")).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_exception_rolls_back_and_is_retried_by_policy(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("fail", (ctx, in) -> {
                try {
                    ctx.transact(
                            "fail",
                            vault,
                            numbers -> {
                                attempts.add(ctx.attempt().number());
                                count(numbers);
                                throw new IllegalStateException("no");
                            },
                            TransactionOptions.defaults().retry(3));
                    return "done";
                } catch (StepFailedException failed) {
                    return failed.attempts() + " " + failed.errorType();
                }
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).isEqualTo("3 java.lang.IllegalStateException");
            assertThat(attempts).containsExactly(1, 2, 3);
            assertThat(vault.number("count")).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_step_in_place_of_a_recorded_transaction_is_found_out(TestMode mode) {
        AtomicBoolean changed = new AtomicBoolean();
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("changing", (ctx, in) -> {
                if (changed.get()) {
                    ctx.step("count", () -> {});
                } else {
                    ctx.transact("count", vault, this::count);
                }
                ctx.sleep(Duration.ofHours(1));
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            changed.set(true);
            perdure.crash();
            perdure.advance(Duration.ofHours(2));
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            assertThat(run.info().reason().orElseThrow())
                    .contains("recorded is transaction 'count', the code asked for step 'count'");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_cancel_is_delivered_although_the_database_is_away(TestMode mode) throws Exception {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("away", (ctx, in) -> {
                try {
                    ctx.transact("count", vault, numbers -> {
                        count(numbers);
                        vault.refuse(new Transacted.Unavailable(trouble));
                    });
                    return "done";
                } catch (CancelledException cancelled) {
                    return "cancelled: " + cancelled.getMessage();
                }
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            run.cancel("enough");
            assertThat(run.result()).isEqualTo("cancelled: enough");
            assertThat(vault.number("count")).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_context_is_refused_inside_the_body(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow(
                    "nested",
                    (ctx, in) -> ctx.transaction("outer", vault, numbers -> ctx.step("inner", () -> "x"), ONCE));
            perdure.register(flow);
            assertThatThrownBy(perdure.start(Invocation.of(flow, "x"))::result)
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining("step was called inside a step body");
        }
    }
}
