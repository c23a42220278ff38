package dev.perdure.testing.scenarios;

import static dev.perdure.ChildOptions.childId;
import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Awakeable;
import dev.perdure.Child;
import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.History;
import dev.perdure.HistoryEvent;
import dev.perdure.Invocation;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.Saga;
import dev.perdure.StartOptions;
import dev.perdure.StepAction;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.WorkflowBody;
import dev.perdure.dag.Dag;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PerdureException;
import dev.perdure.error.TerminalException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import dev.perdure.retention.Retention;
import dev.perdure.testing.HistoryMismatchError;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs that are exported and replayed on other code. */
abstract class HistoryScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration DAY = Duration.ofDays(1);
    private static final Topic<String> NEWS = Topic.of("news", String.class);
    private static final Topic<String> GO = Topic.of("go", String.class);

    /** The histories of these runs. */
    private static List<History> exported(PerdureTest perdure, String... runs) {
        return Arrays.stream(runs)
                .map(run -> perdure.run(RunId.of(run), TypeRef.of(Void.class)).export())
                .toList();
    }

    private static List<History> all(PerdureTest perdure) {
        return perdure.runs(RunFilter.all().limit(1_000)).list().stream()
                .map(info -> perdure.run(info.id(), TypeRef.of(Void.class)).export())
                .toList();
    }

    /** Checks histories against other code, with a test engine of its own. */
    private static void check(List<History> histories, Object... code) {
        try (PerdureTest other = PerdureTest.create()) {
            other.register(code).check(histories);
        }
    }

    private static String difference(List<History> histories, Object... code) {
        try (PerdureTest other = PerdureTest.create()) {
            other.register(code).check(histories);
        } catch (HistoryMismatchError found) {
            assertThat(found.differences()).hasSize(1);
            return found.differences().getFirst();
        }
        throw new AssertionError("The histories fit.");
    }

    private static String remedied(String difference) {
        return difference
                + " Guard the change with ctx.patched(…), or deploy it as another version, to which runs are pinned.";
    }

    // ---- nothing has changed

    /** Makes every kind of call. Its bodies count themselves. */
    private static Object[] everything(Vault vault, AtomicInteger bodies) {
        Definition<String, String> child = workflow("child", (ctx, in) -> {
            ctx.sleep(HOUR);
            return ctx.step("work", () -> in + bodies.incrementAndGet());
        });
        Definition<String, String> flow = workflow("everything", (ctx, in) -> {
            Saga saga = new Saga(ctx);
            String at = ctx.now() + " " + ctx.uuid() + " " + ctx.random().nextInt();
            boolean patched = ctx.patched("new");
            ctx.step("charge", () -> bodies.incrementAndGet());
            saga.undo("refund", () -> {
                bodies.incrementAndGet();
            });
            AtomicInteger attempts = new AtomicInteger();
            DurableFuture<Integer> beside = ctx.stepAsync(
                    "beside",
                    () -> {
                        bodies.incrementAndGet();
                        if (attempts.incrementAndGet() == 1) {
                            throw new IllegalStateException("once");
                        }
                        return 7;
                    },
                    retry(RetryPolicy.standard().jitter(0)));
            DurableFuture<Integer> late = ctx.stepAsync("late", () -> bodies.incrementAndGet());
            ctx.transact("book", vault, numbers -> numbers.put("booked", bodies.incrementAndGet()));
            int first =
                    DurableFuture.any(ctx.timer(HOUR.multipliedBy(100)), beside).await();
            late.await();
            Child<String> one = ctx.startChild(Invocation.of(child, "one"), childId(ctx.runId() + "-child"));
            ctx.send(RunId.of("listener"), NEWS, "hello");
            ctx.publish(NEWS, "published");
            ctx.status("waits");
            String news = ctx.receive(NEWS).await();
            String go = ctx.promise(GO).await();
            Awakeable<String> awakeable = ctx.awakeable(String.class);
            ctx.startChild(Invocation.of(child, awakeable.token()), childId(ctx.runId() + "-token"));
            String woken = awakeable.await();
            String event = ctx.event(NEWS).await();
            int length = ctx.object(Log.class, "a").call(Log::append, in);
            try {
                ctx.step("ship", (StepAction) () -> {
                    bodies.incrementAndGet();
                    throw new TerminalException("no ship");
                });
            } catch (PerdureException failed) {
                saga.compensate(failed);
            }
            return String.join(" ", at, "" + patched, one.await(), "" + first, news, go, woken, event, "" + length);
        });
        Definition<String, String> listener =
                workflow("listener", (ctx, in) -> ctx.receive(NEWS).await());
        Definition<Integer, Integer> again = Definition.of("again", Integer.class, Integer.class, (ctx, left) -> {
            ctx.step("round", () -> bodies.incrementAndGet());
            if (left > 0) {
                throw ctx.continueAsNew(left - 1);
            }
            return ctx.step("last", () -> bodies.incrementAndGet());
        });
        Dag<String, Integer> good = Dag.of("good", String.class, dag -> {
            var a = dag.task("a", t -> bodies.incrementAndGet());
            return dag.after(a).workflow("b", (ctx, t, in) -> {
                int got = ctx.step("inner", () -> bodies.incrementAndGet());
                ctx.sleep(HOUR);
                return got + in;
            });
        });
        Dag<String, Integer> bad = Dag.of("bad", String.class, dag -> {
            var a = dag.run("a", t -> {
                bodies.incrementAndGet();
                throw new TerminalException("a is broken");
            });
            dag.onFailure(t -> bodies.incrementAndGet());
            return dag.after(a).task("b", (t, in) -> 1);
        });
        return new Object[] {flow, child, listener, again, good, bad, new Log()};
    }

    @ParameterizedTest
    @EnumSource
    void histories_of_the_same_code_fit_and_no_body_runs(TestMode mode) {
        AtomicInteger bodies = new AtomicInteger();
        Vault vault = new Vault();
        Object[] code = everything(vault, bodies);
        try (PerdureTest perdure = create(mode)) {
            perdure.register(code);
            perdure.start(Invocation.of("listener", "x", TypeRef.of(String.class)), id("listener"));
            Run<String> run = perdure.start(Invocation.of("everything", "in", TypeRef.of(String.class)), id("all"));
            perdure.start(Invocation.of("again", 2, TypeRef.of(Integer.class)), id("again"));
            Run<Integer> good = perdure.start(Invocation.of("good", "x", TypeRef.of(Integer.class)), id("good"));
            Run<Integer> bad = perdure.start(Invocation.of("bad", "x", TypeRef.of(Integer.class)), id("bad"));
            int checked = 0;
            for (Runnable next : List.<Runnable>of(
                    perdure::settle,
                    () -> perdure.advance(HOUR.multipliedBy(2)),
                    () -> run.send(NEWS, "news"),
                    () -> run.promise(GO).resolve("go"),
                    () -> run.resolveAwakeable(awakeable(run), "woken"),
                    () -> perdure.emit(NEWS, "event"),
                    run::result,
                    () -> perdure.advance(HOUR))) {
                next.run();
                perdure.settle();
                int before = bodies.get();
                List<History> histories = all(perdure);
                checked += histories.size();
                perdure.check(histories);
                assertThat(bodies).hasValue(before);
            }
            assertThat(run.result()).contains("true one").endsWith("1 news go woken event 1");
            assertThat(good.state()).isEqualTo(RunState.COMPLETED);
            assertThat(bad.state()).isEqualTo(RunState.FAILED);
            assertThat(perdure.runs(RunFilter.all().limit(100)).list())
                    .allMatch(info -> info.state().isTerminal())
                    .extracting(RunInfo::definition)
                    .contains("everything", "child", "good", "good/a", "good/b", "bad/a", "list/append");
            assertThat(checked).isGreaterThan(60);
            assertThat(vault.number("booked")).isPositive();
        }
    }

    private static int awakeable(Run<?> run) {
        return run.history().stream()
                .filter(event -> event.kind() == HistoryEvent.Kind.AWAKEABLE)
                .mapToInt(HistoryEvent::position)
                .findFirst()
                .orElseThrow();
    }

    // ---- the code has changed

    private static Definition<String, String> order(WorkflowBody<String, String> body) {
        return workflow("order", body);
    }

    private static final WorkflowBody<String, String> BEFORE = (ctx, in) -> {
        ctx.step("charge", () -> 1);
        ctx.sleep(DAY);
        ctx.step("ship", () -> 2);
        return in;
    };

    /** A run of {@link #BEFORE} while it sleeps, and after its end. */
    private List<History> sleepingAndEnded(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(order(BEFORE));
            Run<String> ended = perdure.start(Invocation.of(order(BEFORE), "x"), id("ended"));
            ended.result();
            perdure.start(Invocation.of(order(BEFORE), "x"), id("sleeping"));
            perdure.settle();
            return exported(perdure, "sleeping", "ended");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_first_difference_is_told_with_position_and_remedy(TestMode mode) {
        List<History> histories = sleepingAndEnded(mode);
        check(histories, order(BEFORE));
        assertThat(difference(histories.subList(0, 1), order((ctx, in) -> {
                    ctx.step("pay", () -> 1);
                    return in;
                })))
                .isEqualTo(
                        remedied(
                                "The code does not fit the journal of run 'sleeping' at position 1: recorded is step 'charge', the code asked for step 'pay'."));
        assertThat(difference(histories.subList(0, 1), order((ctx, in) -> {
                    ctx.step("charge", () -> 1);
                    return in;
                })))
                .isEqualTo(
                        remedied(
                                "The code does not fit the journal of run 'sleeping' at position 2: recorded is sleep of PT24H, the code asked for the end of the workflow."));
        assertThatThrownBy(() -> check(histories, order((ctx, in) -> {
                    ctx.step("charge", () -> 1);
                    ctx.sleep(HOUR);
                    return in;
                })))
                .isInstanceOf(HistoryMismatchError.class)
                .hasMessageStartingWith("2 of 2 histories do not fit this code:\n- The code does not fit")
                .hasMessageContaining(
                        "run 'ended' at position 2: recorded is sleep of PT24H, the code asked for sleep of PT1H.");
    }

    @ParameterizedTest
    @EnumSource
    void new_calls_behind_the_history_and_guarded_calls_fit(TestMode mode) {
        List<History> histories = sleepingAndEnded(mode);
        check(histories, order((ctx, in) -> {
            if (ctx.patched("weigh")) {
                ctx.step("weigh", () -> 0);
            }
            ctx.step("charge", () -> 1);
            ctx.sleep(DAY);
            ctx.step("ship", () -> 2);
            ctx.step("thank", () -> 3);
            return in;
        }));
    }

    @ParameterizedTest
    @EnumSource
    void a_patch_that_an_ended_run_would_reach_now_is_not_decided(TestMode mode) {
        check(sleepingAndEnded(mode), order((ctx, in) -> {
            BEFORE.run(ctx, in);
            return ctx.patched("louder") ? in + "!" : in;
        }));
    }

    @ParameterizedTest
    @EnumSource
    void a_body_that_runs_beside_the_run_is_not_begun_by_the_check(TestMode mode) throws Exception {
        CountDownLatch inBody = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        AtomicInteger bodies = new AtomicInteger();
        Definition<String, String> flow = order((ctx, in) -> {
            ctx.stepAsync("slow", () -> {
                bodies.incrementAndGet();
                inBody.countDown();
                await(released);
            });
            return ctx.step("quick", () -> in);
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("beside"));
            try {
                await(inBody);
                until(() ->
                        run.history().stream().anyMatch(event -> event.name().equals("quick")));
                perdure.check(List.of(run.export()));
                assertThat(bodies).hasValue(1);
            } finally {
                released.countDown();
            }
            assertThat(run.result()).isEqualTo("x");
            perdure.check(List.of(run.export()));
        }
    }

    @VirtualObject("till")
    public static final class Till {
        static final StateKey<Integer> CENTS = StateKey.of("cents", Integer.class);

        @Handler
        public int pay(ObjectContext ctx, int cents) {
            int before = ctx.get(CENTS).orElse(0);
            ctx.publish(NEWS, "paid");
            ctx.set(CENTS, before + cents);
            return before;
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_call_that_ended_without_recording_what_it_read_fits(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Till());
            Run<Integer> paid = perdure.object(Till.class, "a").send(Till::pay, 5, StartOptions.defaults());
            assertThat(paid.result()).isZero();
            perdure.check(List.of(paid.export()));
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_outcome_of_an_ended_run_is_compared(TestMode mode) {
        List<History> ended = sleepingAndEnded(mode).subList(1, 2);
        WorkflowBody<String, String> louder = (ctx, in) -> {
            BEFORE.run(ctx, in);
            return in + "!";
        };
        assertThat(difference(ended, order(louder)))
                .isEqualTo(remedied("Run 'ended' returned another result than with this code: all of it."));
        WorkflowBody<String, String> failing = (ctx, in) -> {
            BEFORE.run(ctx, in);
            throw new IllegalStateException("too late");
        };
        assertThat(difference(ended, order(failing)))
                .isEqualTo(
                        remedied(
                                "Run 'ended' was COMPLETED, and with this code it is FAILED (java.lang.IllegalStateException: too late)."));
    }

    public record Total(int cents) {}

    public record Bill(String id, Total total) {}

    /** A newer version of {@link Bill}, with one field more. */
    public record PaidBill(String id, Total total, Boolean paid) {}

    @ParameterizedTest
    @EnumSource
    void a_field_that_was_added_is_no_other_result_but_another_value_is(TestMode mode) {
        Definition<String, Bill> before =
                Definition.of("bill", String.class, Bill.class, (ctx, in) -> new Bill(in, new Total(5)));
        List<History> ended;
        try (PerdureTest perdure = create(mode)) {
            perdure.register(before);
            perdure.start(Invocation.of(before, "b"), id("b")).result();
            ended = exported(perdure, "b");
        }
        check(
                ended,
                Definition.of("bill", String.class, PaidBill.class, (ctx, in) -> new PaidBill(in, new Total(5), null)));
        assertThat(difference(
                        ended,
                        Definition.of("bill", String.class, Bill.class, (ctx, in) -> new Bill(in, new Total(6)))))
                .isEqualTo(remedied("Run 'b' returned another result than with this code: at /total/cents."));
    }

    @ParameterizedTest
    @EnumSource
    void a_wait_for_what_the_history_does_not_answer_is_a_difference(TestMode mode) {
        WorkflowBody<String, String> before = (ctx, in) -> {
            DurableFuture<String> news = ctx.receive(NEWS);
            ctx.step("work", () -> 1);
            ctx.sleep(DAY);
            return news.await();
        };
        List<History> histories;
        try (PerdureTest perdure = create(mode)) {
            perdure.register(order(before));
            perdure.start(Invocation.of(order(before), "x"), id("w"));
            perdure.settle();
            histories = exported(perdure, "w");
        }
        check(histories, order(before));
        assertThat(difference(histories, order((ctx, in) -> {
                    ctx.uuid();
                    DurableFuture.any(ctx.receive(NEWS)).await();
                    return in;
                })))
                .contains("at position 2: recorded is step 'work', the code asked for");
        assertThat(difference(histories, order((ctx, in) -> {
                    ctx.timer(HOUR);
                    ctx.step("work", () -> 1);
                    return in;
                })))
                .contains(
                        "at position 1: recorded is nothing, and later, at position 2, step 'work', the code asked for timer of PT1H.");
    }

    @ParameterizedTest
    @EnumSource
    void a_definition_that_is_not_registered_is_a_difference(TestMode mode) {
        assertThat(difference(sleepingAndEnded(mode).subList(0, 1), workflow("other", (ctx, in) -> in)))
                .isEqualTo(
                        "Run 'sleeping' is of the definition 'order', which is not registered here. Register it, or keep the name that it had.");
    }

    @Test
    void code_that_swallows_everything_does_not_keep_the_check_waiting() {
        List<History> histories = sleepingAndEnded(TestMode.THREE_WORKERS).subList(0, 1);
        assertThat(difference(histories, order((ctx, in) -> {
                    for (int i = 0; i < 1_000_000; i++) {
                        try {
                            ctx.sleep(HOUR);
                        } catch (Throwable swallowed) {
                            continue;
                        }
                    }
                    return in;
                })))
                .contains("at position 1: recorded is step 'charge', the code asked for sleep of PT1H.");
    }

    @Test
    void what_is_no_history_is_refused_with_its_number() {
        History good = sleepingAndEnded(TestMode.THREE_WORKERS).getFirst();
        try (PerdureTest other = PerdureTest.create()) {
            other.register(order(BEFORE));
            assertThatThrownBy(() -> other.check(List.of()))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage("There are no histories to check. Export some with './perdure runs export'.");
            assertRefused(other, good, "{", "History 2 cannot be read: Unexpected end-of-input");
            assertRefused(
                    other, good, "[]", "History 2 has format 'none', and this version of Perdure reads format 1.");
            assertRefused(other, good, good.json().replace("\"format\":1", "\"format\":2"), "History 2 has format 2,");
            assertRefused(
                    other,
                    good,
                    good.json().replace("\"seed\":", "\"sead\":"),
                    "History 2 cannot be read: the property 'seed' is missing.");
            assertRefused(
                    other,
                    good,
                    good.json().replace("\"STEP\"", "\"STEPPE\""),
                    "History 2 cannot be read: No enum constant");
            assertRefused(
                    other,
                    good,
                    good.json().replace("\"position\":1,", ""),
                    "History 2 cannot be read: the property 'position' is missing.");
        }
        assertThatThrownBy(() -> new History(" "))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("The history is empty. Give one line that './perdure runs export' has written.");
    }

    private static void assertRefused(PerdureTest perdure, History first, String second, String message) {
        assertThatThrownBy(() -> perdure.check(List.of(first, new History(second))))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageStartingWith(message);
    }

    @Test
    void a_file_has_one_history_in_each_line(@TempDir Path folder) throws IOException {
        List<History> histories = sleepingAndEnded(TestMode.THREE_WORKERS);
        Path file = folder.resolve("histories.jsonl");
        Files.writeString(
                file, histories.get(0).json() + "\n\n" + histories.get(1).json() + "\n");
        assertThat(History.read(file)).isEqualTo(histories);
        Files.writeString(file, "\n");
        assertThatThrownBy(() -> History.read(file))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("The file %s has no histories. Write them with './perdure runs export'.", file);
        Path missing = folder.resolve("missing");
        assertThatThrownBy(() -> History.read(missing))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage("The file %s cannot be read as text.", missing);
    }

    // ---- exporting

    @Test
    void a_removed_run_cannot_be_exported() {
        try (PerdureTest perdure = create(TestMode.THREE_WORKERS)) {
            perdure.retention(Retention.of(HOUR));
            perdure.register(order(BEFORE));
            Run<String> run = perdure.start(Invocation.of(order(BEFORE), "x"), StartOptions.id("gone"));
            run.result();
            perdure.advance(DAY);
            perdure.removeOldRuns();
            assertThatThrownBy(run::export)
                    .isInstanceOf(UnknownRunException.class)
                    .hasMessageContaining("'gone'");
        }
    }

    @ParameterizedTest
    @EnumSource
    void odd_values_come_back_as_they_were(TestMode mode) {
        List<String> odd =
                List.of("\u0000", "\ud83d\ude80 ü", "", "line\nbreak\r\u2028", "\"quoted\"\\", "x".repeat(1 << 16));
        Definition<String, Integer> flow = Definition.of("odd", String.class, Integer.class, (ctx, in) -> {
            int characters = 0;
            for (String each : odd) {
                characters += ctx.step("say", () -> each + in).length();
            }
            return characters;
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            Run<Integer> run = perdure.start(Invocation.of(flow, "\u0000ö"), id("odd"));
            run.result();
            History history = run.export();
            assertThat(history.json()).doesNotContain("\n", "\r");
            assertThat(history)
                    .hasToString(
                            "History[%d characters]".formatted(history.json().length()));
            perdure.check(List.of(history));
            List<String> seen = new CopyOnWriteArrayList<>();
            check(List.of(history), Definition.of("odd", String.class, Integer.class, (ctx, in) -> {
                int characters = 0;
                for (int i = 0; i < odd.size(); i++) {
                    String said = ctx.step("say", () -> "not run");
                    seen.add(said.substring(0, said.length() - in.length()));
                    characters += said.length();
                }
                return characters;
            }));
            assertThat(seen).isEqualTo(odd);
        }
    }
}
