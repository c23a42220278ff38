package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Awakeable;
import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.ForkOptions;
import dev.perdure.HistoryEvent;
import dev.perdure.Invocation;
import dev.perdure.KeyedTopic;
import dev.perdure.Repair;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StepOptions;
import dev.perdure.Topic;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditFilter;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RetryRefusedException;
import dev.perdure.error.RunConflictException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.StepFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs that failed and continue, and forks of runs. */
abstract class RetriedRunScenarios extends Scenarios {
    /** Charges, ships and tells; shipping fails while the carrier is down. */
    private static Definition<String, String> shipping(List<String> done, AtomicBoolean down) {
        return workflow("shipping", (ctx, in) -> {
            ctx.step("charge", () -> {
                done.add("charge " + in);
            });
            ctx.sleep(Duration.ofHours(1));
            String parcel = ctx.step("ship", () -> {
                if (down.get()) {
                    throw new TerminalException("the carrier is down");
                }
                done.add("ship " + in);
                return "parcel of " + in;
            });
            ctx.step("tell", () -> {
                done.add("tell " + in);
            });
            return parcel;
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_failed_run_continues_from_the_step_that_failed(TestMode mode) {
        List<String> done = new CopyOnWriteArrayList<>();
        AtomicBoolean down = new AtomicBoolean(true);
        Definition<String, String> flow = shipping(done, down);
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "ada"), id("order"));
            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
            run.retry();
            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
            down.set(false);
            run.retry();
            assertThat(run.result()).isEqualTo("parcel of ada");
            assertThat(done).containsExactly("charge ada", "ship ada", "tell ada");
            assertThatThrownBy(run::retry)
                    .isInstanceOf(RetryRefusedException.class)
                    .hasMessage(
                            "Run 'order' is not retried. The run 'order' is COMPLETED. Only a run that failed or was cancelled is retried. Fork it instead.");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_killed_run_continues_where_it_was(TestMode mode) {
        List<String> done = new CopyOnWriteArrayList<>();
        Definition<String, String> flow = shipping(done, new AtomicBoolean());
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "ada"), id("order"));
            perdure.settle();
            run.kill("by mistake");
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.CANCELLED);
            run.retry();
            assertThat(run.result()).isEqualTo("parcel of ada");
            assertThat(done).containsExactly("charge ada", "ship ada", "tell ada");
            assertThat(perdure.now()).isEqualTo("2030-01-01T01:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_has_compensated_is_forked_instead(TestMode mode) {
        List<String> done = new CopyOnWriteArrayList<>();
        AtomicBoolean down = new AtomicBoolean(true);
        Definition<String, String> flow = workflow("saga", (ctx, in) -> {
            ctx.step("charge", () -> {
                done.add("charge " + in);
            });
            try {
                ctx.step("ship", () -> {
                    if (down.get()) {
                        throw new TerminalException("the carrier is down");
                    }
                    done.add("ship " + in);
                });
            } catch (StepFailedException failed) {
                ctx.step("refund", () -> {
                    done.add("refund " + in);
                });
                throw failed;
            }
            return "shipped " + in;
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "ada"), id("order"));
            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
            assertThatThrownBy(run::retry)
                    .isInstanceOf(RetryRefusedException.class)
                    .hasMessage(
                            "Run 'order' is not retried. STEP 'refund' at position 3 was recorded after the failure of STEP 'ship' at position 2. Let the run begin anew (rerun), or fork it from before all that it has undone.");
            down.set(false);
            assertThat(run.fork(ForkOptions.from(2).id("order-2")).result()).isEqualTo("shipped ada");
            Run<String> other = run.fork(ForkOptions.from(1).id("order-3").input("bob"));
            assertThat(other.result()).isEqualTo("shipped bob");
            assertThat(run.fork(ForkOptions.from(9).id("order-4")).id().value()).isEqualTo("order-4");
            assertThatThrownBy(() -> run.fork(ForkOptions.from(1).id("order-3")))
                    .isInstanceOf(RunConflictException.class)
                    .hasMessage("The id 'order-3' is taken by another run. Fork 'order' under another id.");
            assertThat(done).startsWith("charge ada", "refund ada", "ship ada", "charge bob", "ship bob");
            assertThat(run.state()).isEqualTo(RunState.FAILED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_fork_passes_calls_that_depend_on_its_own_id_token_or_chance(TestMode mode) {
        Topic<String> topic = Topic.of("mail", String.class);
        Topic<String> event = Topic.of("event", String.class);
        Definition<String, String> child = workflow("child", (ctx, in) -> "child");
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            ctx.send(ctx.runId(), topic, "to myself");
            String mail = ctx.receive(topic).await();
            Awakeable<String> awakeable = ctx.awakeable(String.class);
            ctx.resolve(awakeable.token(), "by myself");
            String answer = awakeable.await();
            ctx.promise(ctx.runId(), Topic.of("promise", String.class)).resolve("kept");
            ctx.sleep(Duration.ofMillis(1 + ctx.random().nextInt(1_000_000)));
            ctx.emit(new KeyedTopic<>(event, ctx.runId().value()), "x");
            ctx.call(Invocation.of(child, ctx.runId().value()));
            ctx.step("last", () -> "done");
            return mail + ", " + answer;
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow, child);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("a"));
            assertThat(run.result()).isEqualTo("to myself, by myself");
            int last = positionOf(run, "last");
            Run<String> fork = run.fork(ForkOptions.from(last).id("b"));
            assertThat(fork.result()).isEqualTo("to myself, by myself");
            Run<String> second = fork.fork(ForkOptions.from(last).id("c"));
            assertThat(second.result()).isEqualTo("to myself, by myself");
            for (Run<String> each : List.of(run, fork, second)) {
                perdure.check(List.of(each.export()));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_fork_finds_that_the_code_has_changed_before_its_position(TestMode mode) {
        AtomicBoolean changed = new AtomicBoolean();
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            ctx.step(changed.get() ? "other" : "first", () -> "1");
            return ctx.step("last", () -> "done");
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("a"));
            assertThat(run.result()).isEqualTo("done");
            changed.set(true);
            Run<String> fork = run.fork(ForkOptions.from(2).id("b"));
            perdure.settle();
            assertThat(fork.info().reason().orElseThrow())
                    .contains("recorded is step 'first', the code asked for step 'other'");
        }
    }

    private static int positionOf(Run<?> run, String step) {
        return run.history().stream()
                .filter(each -> each.name().equals(step))
                .findFirst()
                .orElseThrow()
                .position();
    }

    // ---- repair

    @ParameterizedTest
    @EnumSource
    void a_repaired_result_is_what_the_code_goes_on_with(TestMode mode) {
        List<String> done = new CopyOnWriteArrayList<>();
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            String price = ctx.step("price", () -> {
                done.add("price");
                return "100 euros";
            });
            ctx.sleep(Duration.ofHours(1));
            return ctx.step("charge", () -> {
                done.add("charge " + price);
                return "charged " + price;
            });
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("order"));
            perdure.settle();
            Repair repair = Repair.result(1, "100 cents", "the partner sent euros");
            run.pause("wrong price");
            perdure.settle();
            run.repair(repair);
            run.resume();
            assertThat(run.result()).isEqualTo("charged 100 cents");
            assertThat(done).containsExactly("price", "charge 100 cents");
            assertThatThrownBy(() -> run.repair(repair))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "Run 'order' is not repaired. The run 'order' is COMPLETED, and its result stays. Fork it instead.");
            assertThat(perdure.audit().list(AuditFilter.run("order")))
                    .extracting(AuditEntry::text)
                    .contains("REPAIR run 'order' #1 by test: VALUE: the partner sent euros");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_step_that_is_stuck_is_failed_by_hand_and_the_code_can_catch_that(TestMode mode) {
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            try {
                return ctx.step(
                        "ship",
                        () -> {
                            throw new IllegalStateException("the carrier is down");
                        },
                        StepOptions.retry(RetryPolicy.standard()
                                .initialDelay(Duration.ofHours(1))
                                .maxDelay(Duration.ofHours(1))));
            } catch (StepFailedException failed) {
                return ctx.step("refund", () -> "refunded: " + failed.getCause().getMessage());
            }
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("order"));
            perdure.settle();
            run.pause("stuck");
            perdure.settle();
            run.repair(Repair.failure(1, "no carrier", "closed for good"));
            run.resume();
            assertThat(run.result()).isEqualTo("refunded: no carrier");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_failed_run_is_repaired_and_retried(TestMode mode) {
        List<String> done = new CopyOnWriteArrayList<>();
        Definition<String, String> flow = shipping(done, new AtomicBoolean(true));
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "ada"), id("order"));
            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
            run.repair(Repair.result(3, "parcel by hand", "shipped by hand"));
            run.retry();
            assertThat(run.result()).isEqualTo("parcel by hand");
            assertThat(done).containsExactly("charge ada", "tell ada");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_failure_by_hand_of_a_failed_run_is_what_the_code_gets(TestMode mode) {
        List<String> done = new CopyOnWriteArrayList<>();
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            try {
                return ctx.step("ship", () -> {
                    done.add("ship");
                    throw new TerminalException("unknown outcome");
                });
            } catch (StepFailedException failed) {
                if ("no carrier".equals(failed.getCause().getMessage())) {
                    return "refunded";
                }
                throw failed;
            }
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("order"));
            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
            int ships = done.size();
            run.repair(Repair.failure(1, "no carrier", "the carrier has closed"));
            run.retry();
            assertThat(run.result()).isEqualTo("refunded");
            assertThat(done).hasSize(ships);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_failed_run_is_retried_after_the_repair_of_a_step_that_is_stuck(TestMode mode) {
        AtomicBoolean down = new AtomicBoolean(true);
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            DurableFuture<String> stuck = ctx.stepAsync(
                    "stuck",
                    () -> {
                        throw new IllegalStateException("down");
                    },
                    StepOptions.retry(RetryPolicy.standard()
                            .initialDelay(Duration.ofHours(9))
                            .maxDelay(Duration.ofHours(9))));
            ctx.sleep(Duration.ofMinutes(1));
            String other = ctx.step("other", () -> {
                if (down.get()) {
                    throw new TerminalException("bad");
                }
                return "good";
            });
            return other + " and " + stuck.await();
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("order"));
            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
            perdure.advance(Duration.ofSeconds(5));
            run.repair(Repair.result(1, "by hand", "done by hand"));
            run.retry();
            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
            down.set(false);
            run.retry();
            assertThat(run.result()).isEqualTo("good and by hand");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_failure_by_hand_of_an_earlier_step_leaves_the_run_retryable(TestMode mode) {
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            String one;
            try {
                one = ctx.step("one", () -> "1");
            } catch (StepFailedException failed) {
                one = "failed";
            }
            ctx.step("two", () -> "2");
            if (one.equals("1")) {
                throw new TerminalException("one is wrong");
            }
            return one;
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("order"));
            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
            run.repair(Repair.failure(1, "no", "it was wrong"));
            run.retry();
            assertThat(run.result()).isEqualTo("failed");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_has_compensated_is_not_repaired(TestMode mode) {
        Definition<String, String> flow = workflow("saga", (ctx, in) -> {
            try {
                return ctx.step("ship", () -> {
                    throw new TerminalException("down");
                });
            } catch (StepFailedException failed) {
                ctx.step("refund", () -> "refunded");
                throw failed;
            }
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("order"));
            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
            assertThatThrownBy(() -> run.repair(Repair.result(1, "x", "shipped by hand")))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "Run 'order' is not repaired. STEP 'refund' at position 2 was recorded after the failure of STEP 'ship' at position 1. Let the run begin anew (rerun), or fork it from before all that it has undone.");
        }
    }

    @ParameterizedTest
    @EnumSource(names = "THREE_WORKERS")
    void the_history_says_at_which_attempt_a_step_was_failed_by_hand(TestMode mode) {
        Definition<String, String> flow = workflow(
                "flow",
                (ctx, in) -> ctx.step(
                        "stuck",
                        () -> {
                            throw new IllegalStateException("down");
                        },
                        StepOptions.retry(RetryPolicy.standard()
                                .initialDelay(Duration.ofHours(1))
                                .maxDelay(Duration.ofHours(1)))));
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("order"));
            perdure.advance(Duration.ofMinutes(150));
            run.pause("stuck");
            perdure.settle();
            run.repair(Repair.failure(1, "by hand", "closed for good"));
            assertThat(run.history())
                    .extracting(HistoryEvent::text)
                    .anyMatch(text -> text.contains("failed at attempt 3 and is not tried again"));
        }
    }

    @ParameterizedTest
    @EnumSource(names = "NORMAL")
    void a_repair_says_why(TestMode mode) {
        assertThatThrownBy(() -> Repair.result(1, "x", " "))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("A repair needs a reason, which the audit records. Say why.");
        assertThatThrownBy(() -> Repair.failure(0, "x", "y"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("The position is 0; it is at least 1. The history of the run shows its positions.");
    }
}
