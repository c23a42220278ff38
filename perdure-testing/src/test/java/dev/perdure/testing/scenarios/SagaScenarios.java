package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.ForkOptions;
import dev.perdure.HistoryEvent;
import dev.perdure.Invocation;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.Saga;
import dev.perdure.StepAction;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditFilter;
import dev.perdure.bulk.BulkAction;
import dev.perdure.bulk.BulkReport;
import dev.perdure.bulk.SelectedRuns;
import dev.perdure.error.CompensationFailedException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RetryRefusedException;
import dev.perdure.error.TerminalException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.spi.Transacted;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import dev.perdure.transaction.TransactionOptions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class SagaScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);

    /** Books three things, then acts as its input says. */
    private static Definition<String, String> trip(List<String> done, Runnable undoingHotel) {
        return workflow("trip", (ctx, in) -> {
            Saga saga = new Saga(ctx);
            try {
                for (String what : List.of("flight", "hotel", "car")) {
                    ctx.step("book " + what, () -> done.add("book " + what));
                    saga.undo(
                            "cancel " + what,
                            () -> {
                                if (what.equals("hotel")) {
                                    undoingHotel.run();
                                }
                                done.add("cancel " + what);
                            },
                            retry(RetryPolicy.standard()
                                    .attempts(3)
                                    .initialDelay(HOUR)
                                    .factor(1)
                                    .maxDelay(HOUR)
                                    .jitter(0)));
                }
                switch (in) {
                    case "fail" ->
                        ctx.step(
                                "pay",
                                (StepAction) () -> {
                                    throw new IllegalStateException("no money");
                                },
                                retry(1));
                    case "throw" -> throw new IllegalStateException("own exception");
                    case "sleep" -> ctx.sleep(Duration.ofDays(1));
                    default -> {}
                }
                return "booked";
            } catch (RuntimeException failure) {
                throw saga.compensate(failure);
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_fork_takes_over_nothing_that_was_undone_unless_it_may(TestMode mode) {
        List<String> done = new CopyOnWriteArrayList<>();
        Definition<String, String> flow = workflow("order", (ctx, in) -> {
            Saga saga = new Saga(ctx);
            try {
                ctx.step("accept", () -> done.add("accept"));
                ctx.step("reserve", () -> done.add("reserve"));
                saga.undo("release", () -> done.add("release"));
                ctx.step("charge", () -> done.add("charge"));
                saga.undo("refund", () -> done.add("refund"));
                ctx.step("ship", () -> {
                    if (!done.contains("refund")) {
                        throw new TerminalException("no road");
                    }
                    return done.add("ship");
                });
                return "shipped";
            } catch (RuntimeException failure) {
                throw saga.compensate(failure);
            }
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("o"));
            assertThatThrownBy(run::result).hasMessageContaining("no road");
            assertThat(done).containsExactly("accept", "reserve", "charge", "refund", "release");
            assertThatThrownBy(run::retry)
                    .isInstanceOf(RetryRefusedException.class)
                    .hasMessage(
                            "Run 'o' is not retried. The undoing at position 5 was recorded after the failure of STEP 'ship' at position 4. Its saga has undone what it did from position 2 on: let it begin anew (rerun), or fork it from position 2 or an earlier one.");
            for (int position : List.of(3, 4, 6, 9)) {
                assertThatThrownBy(() -> run.fork(ForkOptions.from(position)))
                        .isInstanceOf(RetryRefusedException.class)
                        .hasMessage(
                                "Run 'o' is not forked. Its saga has undone what it did from position 2 on, and the fork would take that over. Fork it from position 2 or an earlier one, or allow that with allowCompensated.");
            }
            done.removeIf(each -> !each.equals("refund"));
            assertThat(run.fork(ForkOptions.from(2)).result()).isEqualTo("shipped");
            assertThat(done).containsExactly("refund", "reserve", "charge", "ship");
            assertThat(run.fork(ForkOptions.from(4).allowCompensated()).result())
                    .isEqualTo("shipped");
            assertThat(done).containsExactly("refund", "reserve", "charge", "ship", "ship");
        }
    }

    @ParameterizedTest
    @EnumSource
    void what_is_undone_counts_from_the_saga_where_it_is_not_clear_which_steps_are(TestMode mode) {
        Definition<String, String> flow = workflow("order", (ctx, in) -> {
            ctx.step("accept", () -> "accepted");
            Saga saga = new Saga(ctx);
            try {
                switch (in) {
                    case "before" -> {
                        saga.undo("release", () -> {});
                        ctx.step("reserve", () -> "reserved");
                    }
                    case "two" -> {
                        ctx.step("reserve", () -> "reserved");
                        ctx.step("charge", () -> "charged");
                        saga.undo("release", () -> {});
                        saga.undo("refund", () -> {});
                    }
                    default -> {
                        DurableFuture<String> reserved = ctx.stepAsync("reserve", () -> "reserved");
                        ctx.step("charge", () -> "charged");
                        saga.undo("refund", () -> {});
                        reserved.await();
                        saga.undo("release", () -> {});
                    }
                }
                throw new IllegalStateException("no road");
            } catch (RuntimeException failure) {
                throw saga.compensate(failure);
            }
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            for (String in : List.of("before", "two", "async")) {
                Run<String> run = perdure.start(Invocation.of(flow, in), id(in));
                assertThatThrownBy(run::result).hasMessageContaining("no road");
                assertThatThrownBy(() -> run.fork(ForkOptions.from(3)))
                        .hasMessageContaining("from position 2 on")
                        .hasMessageContaining("Fork it from position 2 or an earlier one");
                assertThat(run.fork(ForkOptions.from(2).id(in + "-again")).id().value())
                        .isEqualTo(in + "-again");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void runs_that_have_compensated_begin_anew_or_are_forked_all_at_once(TestMode mode) {
        List<String> done = new CopyOnWriteArrayList<>();
        AtomicBoolean road = new AtomicBoolean();
        Definition<String, String> flow = workflow("order", (ctx, in) -> {
            Saga saga = new Saga(ctx);
            try {
                ctx.step("reserve", () -> done.add("reserve"));
                saga.undo("release", () -> done.add("release"));
                ctx.step("ship", () -> {
                    if (!road.get()) {
                        throw new TerminalException("no road");
                    }
                });
                return "shipped " + in;
            } catch (RuntimeException failure) {
                throw saga.compensate(failure);
            }
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            List<Run<String>> runs = Stream.of("a", "b", "c")
                    .map(in -> perdure.start(Invocation.of(flow, in), id(in)))
                    .toList();
            runs.forEach(run -> assertThatThrownBy(run::result).hasMessageContaining("no road"));
            perdure.advance(HOUR);
            road.set(true);
            done.clear();
            SelectedRuns failed =
                    perdure.runs(RunFilter.all().definition("order").state(RunState.FAILED));
            BulkReport retried =
                    failed.start(BulkAction.retry("the road is open")).result();
            assertThat(retried.refused()).isEqualTo(3);

            BulkReport forked = failed.start(BulkAction.fork(1)).result();
            assertThat(forked.changed()).isEqualTo(3);
            perdure.settle();
            assertThat(perdure.runs(RunFilter.all().definition("order").state(RunState.COMPLETED))
                            .list())
                    .hasSize(3);
            BulkReport anew = failed.start(BulkAction.rerun("the road is open")).result();
            assertThat(anew.changed()).isEqualTo(3);
            assertThat(runs.stream().map(Run::result)).containsExactly("shipped a", "shipped b", "shipped c");
            assertThat(done).hasSize(6).containsOnly("reserve");
            assertThat(perdure.audit().list(AuditFilter.run("a")))
                    .anyMatch(entry -> entry.action() == AuditEntry.Action.RERUN
                            && entry.detail().endsWith(": the road is open"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_has_compensated_begins_anew_under_its_id(TestMode mode) {
        List<String> done = new CopyOnWriteArrayList<>();
        AtomicInteger roads = new AtomicInteger(-2);
        Definition<String, String> flow = workflow("order", (ctx, in) -> {
            Saga saga = new Saga(ctx);
            try {
                ctx.step("reserve", () -> done.add("reserve " + in));
                saga.undo("release", () -> done.add("release"));
                ctx.step("ship", () -> {
                    if (roads.incrementAndGet() <= 0) {
                        throw new TerminalException("no road");
                    }
                });
                return "shipped";
            } catch (RuntimeException failure) {
                throw saga.compensate(failure);
            }
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "book"), id("o"));
            for (int lives = 1; lives <= 2; lives++) {
                assertThatThrownBy(run::result).hasMessageContaining("no road");
                perdure.advance(HOUR);
                perdure.rerun(run.id());
            }
            assertThat(run.result()).isEqualTo("shipped");
            assertThat(done).containsExactly("reserve book", "release", "reserve book", "release", "reserve book");
            assertThat(run.history().stream()
                            .filter(event -> event.status() == HistoryEvent.Status.VALUE
                                    || event.status() == HistoryEvent.Status.FAILURE)
                            .map(HistoryEvent::name))
                    .filteredOn(name -> !name.startsWith("perdure."))
                    .containsExactly("reserve", "ship", "release", "reserve", "ship", "release", "reserve", "ship");
            assertThatThrownBy(() -> perdure.rerun(run.id()))
                    .isInstanceOf(RetryRefusedException.class)
                    .hasMessage(
                            "Run 'o' does not begin anew. The run 'o' is COMPLETED. Only a run that failed or was cancelled begins anew. Fork it from position 1 instead.");
            assertThatThrownBy(() -> perdure.rerun(RunId.of("nobody"))).isInstanceOf(UnknownRunException.class);
            assertThat(perdure.audit().list(AuditFilter.run("o")))
                    .extracting(AuditEntry::action)
                    .containsExactly(AuditEntry.Action.RERUN, AuditEntry.Action.RERUN);
        }
    }

    private static final List<String> ALL_UNDONE =
            List.of("book flight", "book hotel", "book car", "cancel car", "cancel hotel", "cancel flight");

    @ParameterizedTest
    @EnumSource
    void what_succeeds_is_not_undone(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = trip(done, () -> {});
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "succeed")).result()).isEqualTo("booked");
            assertThat(done).containsExactly("book flight", "book hotel", "book car");
        }
    }

    @ParameterizedTest
    @EnumSource
    void compensations_run_in_reverse_each_with_its_own_retries_and_through_a_crash(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            AtomicInteger tries = new AtomicInteger();
            Definition<String, String> flow = trip(done, () -> {
                if (tries.incrementAndGet() < 3) {
                    throw new IllegalStateException("busy");
                }
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "fail"), id("t"));
            perdure.advance(Duration.ofMinutes(90));
            perdure.crash();
            assertThatThrownBy(run::result)
                    .hasMessage("Run 't' is FAILED: dev.perdure.error.StepFailedException: "
                            + "Step 'pay' failed after 1 attempt: java.lang.IllegalStateException: no money");
            assertThat(done).isEqualTo(ALL_UNDONE);
            assertThat(tries).hasValue(3);
            assertThat(perdure.now()).isEqualTo("2030-01-01T02:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_workflows_own_exceptions_are_compensated_too(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = trip(done, () -> {});
            perdure.register(flow);
            assertThatThrownBy(perdure.start(Invocation.of(flow, "throw"))::result)
                    .hasMessageContaining("own exception");
            assertThat(done).isEqualTo(ALL_UNDONE);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_cancel_is_compensated_and_the_run_ends_cancelled(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = trip(done, () -> {});
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "sleep"), id("t"));
            perdure.settle();
            run.cancel("changed my mind");
            assertThatThrownBy(run::result).hasMessage("Run 't' is CANCELLED: changed my mind");
            assertThat(done).isEqualTo(ALL_UNDONE);

            Run<String> late =
                    perdure.start(Invocation.of(flow, "sleep"), id("late").timeout(HOUR));
            assertThatThrownBy(late::result).hasMessageContaining("has passed its deadline");
            assertThat(done.subList(6, 12)).isEqualTo(ALL_UNDONE);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_cancel_that_comes_during_compensation_leaves_nothing_undone(TestMode mode) throws Exception {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            CountDownLatch undoing = new CountDownLatch(1);
            AtomicInteger tries = new AtomicInteger();
            Definition<String, String> flow = trip(done, () -> {
                undoing.countDown();
                if (tries.incrementAndGet() == 1) {
                    try {
                        await(new CountDownLatch(1));
                    } catch (InterruptedException stop) {
                        throw new IllegalStateException(stop);
                    }
                }
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "fail"), id("t"));
            await(undoing);
            run.cancel("too late");
            assertThatThrownBy(run::result).hasMessageContaining("no money");
            assertThat(done).isEqualTo(ALL_UNDONE);
            assertThat(tries).hasValue(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_compensation_that_fails_is_visible_and_the_others_run(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            List<String> seen = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = trip(done, () -> {
                throw new IllegalStateException("hotel closed");
            });
            Definition<String, String> looking = workflow("looking", (ctx, in) -> {
                Saga saga = new Saga(ctx);
                for (int i = 1; i <= 3; i++) {
                    int number = i;
                    saga.undo(
                            "undo " + i,
                            () -> {
                                throw new IllegalStateException("no " + number);
                            },
                            retry(1));
                }
                RuntimeException why = new IllegalStateException("why");
                if (saga.compensate(why) instanceof CompensationFailedException failed) {
                    seen.add(failed.getCause().getMessage()
                            + Arrays.stream(failed.getSuppressed())
                                    .map(Throwable::getMessage)
                                    .toList());
                }
                // Finished compensations do not run again.
                return "" + saga.compensate(why).equals(why);
            });
            perdure.register(flow, looking);
            Run<String> run = perdure.start(Invocation.of(flow, "sleep"), id("t"));
            perdure.settle();
            run.cancel("stop.");
            assertThatThrownBy(run::result)
                    .hasMessage("Run 't' is FAILED: dev.perdure.error.CompensationFailedException: "
                            + "1 of 3 compensations of run 't' failed, after: dev.perdure.error.CancelledException: stop. "
                            + "Undo by hand what they should have: Step 'cancel hotel' failed after 3 attempts: "
                            + "java.lang.IllegalStateException: hotel closed");
            assertThat(run.state()).isEqualTo(RunState.FAILED);
            assertThat(done).containsExactly("book flight", "book hotel", "book car", "cancel car", "cancel flight");

            assertThat(perdure.start(Invocation.of(looking, "x")).result()).isEqualTo("true");
            assertThat(seen)
                    .containsOnly("why["
                            + "Step 'undo 3' failed after 1 attempt: java.lang.IllegalStateException: no 3, "
                            + "Step 'undo 2' failed after 1 attempt: java.lang.IllegalStateException: no 2, "
                            + "Step 'undo 1' failed after 1 attempt: java.lang.IllegalStateException: no 1]");
        }
    }

    /** A crash after the commit of a compensation: a step body would undo a second time. */
    @ParameterizedTest
    @EnumSource
    void a_compensation_in_a_transaction_takes_effect_once(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Vault vault = new Vault();
            Definition<String, String> flow = workflow("seats", (ctx, in) -> {
                Saga saga = new Saga(ctx);
                try {
                    ctx.transact("take", vault, numbers -> numbers.merge("seats", 5, Integer::sum));
                    saga.undo("give back", vault, numbers -> numbers.merge("seats", -5, Integer::sum));
                    saga.undo(
                            "refuse",
                            vault,
                            numbers -> {
                                throw new IllegalStateException("closed");
                            },
                            TransactionOptions.defaults().retry(1));
                    throw new IllegalStateException("changed my mind");
                } catch (RuntimeException failure) {
                    throw saga.compensate(failure);
                }
            });
            perdure.register(flow);
            AtomicInteger commits = new AtomicInteger();
            vault.end(Vault.Ending.GOOD).end(committed -> {
                commits.incrementAndGet();
                return new Transacted.InDoubt(() -> committed);
            });
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("s"));
            assertThatThrownBy(run::result)
                    .hasMessageContaining("1 of 2 compensations of run 's' failed")
                    .hasMessageContaining("Step 'refuse' failed after 1 attempt");
            assertThat(commits).hasValue(1);
            assertThat(vault.number("seats")).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_name_that_cannot_be_a_steps_is_refused_when_it_is_registered(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("misnamed", (ctx, in) -> {
                try {
                    new Saga(ctx).undo("", () -> {});
                    return "?";
                } catch (InvalidRequestException refused) {
                    return refused.getMessage();
                }
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result())
                    .isEqualTo("The name of the compensation is empty. Give it a non-empty text.");
        }
    }
}
