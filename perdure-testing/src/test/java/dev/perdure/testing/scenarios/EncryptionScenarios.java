package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StartOptions.under;
import static dev.perdure.testing.scenarios.Log.log;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Awakeable;
import dev.perdure.Definition;
import dev.perdure.ForkOptions;
import dev.perdure.Invocation;
import dev.perdure.Repair;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StartKey;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.dag.Outputs;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.DecryptionException;
import dev.perdure.error.RunConflictException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.payload.Compression;
import dev.perdure.payload.Encryption;
import dev.perdure.payload.EncryptionKeys;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadPlace;
import dev.perdure.spi.payload.PayloadTransform;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Values that only processes with the key can read. */
abstract class EncryptionScenarios extends Scenarios {
    private static final Duration DAY = Duration.ofDays(1);
    private static final Topic<String> TOLD = Topic.of("told", String.class);
    private static final Topic<String> APPROVAL = Topic.of("approval", String.class);
    private static final Topic<String> STOCK = Topic.of("stock", String.class);
    private static final SecretKey OLD = key(1);
    private static final SecretKey NEW = key(2);
    private static final EncryptionKeys KEYS = EncryptionKeys.of("2025", Map.of("2025", OLD));

    private static SecretKey key(int filler) {
        byte[] bytes = new byte[32];
        Arrays.fill(bytes, (byte) filler);
        return new SecretKeySpec(bytes, "AES");
    }

    private PerdureTest engine(TestMode mode) {
        return create(mode).transform(Compression.over(200).then(Encryption.with(KEYS)));
    }

    /** Keys that an operator changes while engines use them. */
    private static final class Rotating implements EncryptionKeys {
        private volatile EncryptionKeys now = KEYS;

        @Override
        public String current() {
            return now.current();
        }

        @Override
        public Optional<SecretKey> find(String id) {
            return now.find(id);
        }
    }

    @ParameterizedTest
    @EnumSource
    void values_reach_every_place_and_no_history_shows_them(TestMode mode) {
        Definition<String, String> part = workflow("part", (ctx, in) -> {
            if (in.contains("bad")) {
                throw new TerminalException("secret of the child");
            }
            return in + " part";
        });
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            String made = ctx.step("make", () -> in + " made");
            ctx.publish(TOLD, made);
            String told = ctx.receive(TOLD).await();
            String approved = ctx.promise(APPROVAL).await();
            Awakeable<String> call = ctx.awakeable(String.class);
            ctx.step("call", () -> call.token());
            String stock = ctx.event(STOCK).await();
            String child = ctx.startChild(Invocation.of(part, "secret child")).await();
            String failed;
            try {
                failed = ctx.call(Invocation.of(part, "bad secret"));
            } catch (RunFailedException thrown) {
                failed = String.valueOf(thrown.getCause().getMessage());
            }
            return String.join(", ", made, told, approved, stock, child, failed, call.await());
        });
        try (PerdureTest perdure = engine(mode)) {
            perdure.register(flow, part);
            Run<String> run = perdure.start(Invocation.of(flow, "secret"), id("run"));
            run.send(TOLD, "secret told");
            run.promise(APPROVAL).resolve("secret yes");
            perdure.advance(DAY);
            perdure.emit(STOCK, "secret stock");
            perdure.advance(DAY);
            run.resolveAwakeable(7, "secret answer");
            assertThat(run.result())
                    .isEqualTo("secret made, secret told, secret yes, secret stock, secret child part, "
                            + "secret of the child, secret answer");
            assertThat(run.published(TOLD)).contains("secret made");
            assertThat(run.promise(APPROVAL).await(DAY)).isEqualTo("secret yes");
            assertThat(run.export().json()).doesNotContain("secret");
            perdure.check(List.of(run.export()));
            assertThat(perdure.start(Invocation.of(flow, "secret"), id("run")).result())
                    .as("the same input")
                    .isEqualTo(run.result());
            assertThatThrownBy(() -> perdure.start(Invocation.of(flow, "other"), id("run")))
                    .isInstanceOf(RunConflictException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NORMAL", "REPLAY_AFTER_EVERY_STEP", "THREE_WORKERS"})
    void objects_dags_and_schedules_work_with_encrypted_values(TestMode mode) {
        Dag<String, Outputs> leaves = Dag.ofLeaves("leaves", String.class, builder -> {
            builder.task("a", t -> t.input() + " a");
            builder.task("b", t -> t.input() + " b");
        });
        Dag<String, String> chain = Dag.of("chain", String.class, builder -> {
            var first = builder.task("first", t -> t.input() + " first");
            return builder.after(first).task("second", (t, before) -> before + " second");
        });
        Definition<String, String> nightly = workflow("nightly", (ctx, in) -> in + " " + ctx.runId());
        try (PerdureTest perdure = engine(mode)) {
            perdure.register(new Log(), leaves, chain, nightly);
            log(perdure, "a").call(Log::append, "one");
            assertThat(log(perdure, "a").call(Log::append, "two")).isEqualTo(2);
            assertThat(log(perdure, "a").state().get(Log.LINES)).hasValue(List.of("one", "two"));
            log(perdure, "a").edit(state -> state.set(Log.NOTE, "edited"));
            assertThat(log(perdure, "a").call(Log::note)).hasValue("edited");
            DagRun<Outputs> parts = perdure.start(leaves, "in");
            assertThat(parts.result().get("b", TypeRef.of(String.class))).isEqualTo("in b");
            assertThat(parts.status().outputs().get("a", TypeRef.of(String.class)))
                    .isEqualTo("in a");
            assertThat(perdure.start(chain, "in").result()).isEqualTo("in first second");
            perdure.schedules().put(Schedule.of("nightly", Times.every(DAY), Invocation.of(nightly, "in")));
            perdure.advance(DAY.multipliedBy(3));
            List<RunInfo> fired =
                    perdure.runs(RunFilter.all().definition("nightly")).list();
            assertThat(fired).hasSize(3).allMatch(run -> run.state() == RunState.COMPLETED);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NORMAL", "REPLAY_AFTER_EVERY_STEP", "THREE_WORKERS"})
    void a_fork_a_retry_and_a_repair_read_what_was_recorded(TestMode mode) {
        AtomicBoolean broken = new AtomicBoolean(true);
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            String told = ctx.receive(TOLD).await();
            String made = ctx.step("make", () -> in + " made");
            return ctx.step("ship", () -> {
                if (broken.get()) {
                    throw new TerminalException("secret closed");
                }
                return made + " " + told;
            });
        });
        try (PerdureTest perdure = engine(mode)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "in"), id("run"));
            run.send(TOLD, "told");
            assertThatThrownBy(run::result)
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageEndingWith("dev.perdure.error.StepFailedException (its message is hidden)")
                    .hasStackTraceContaining("secret closed");
            assertThat(run.info().reason().orElseThrow()).doesNotContain("secret");
            broken.set(false);
            Run<String> fork = run.fork(ForkOptions.from(4).id("fork"));
            assertThat(fork.result()).isEqualTo("in made told");
            Run<String> second = fork.fork(ForkOptions.from(4).id("second"));
            assertThat(second.result()).as("the fork of a fork").isEqualTo("in made told");
            run.repair(Repair.result(4, "repaired", "shipped by hand"));
            run.retry();
            assertThat(run.result()).isEqualTo("repaired");
        }
    }

    @Test
    void a_debounced_run_reads_the_last_input_and_a_waiting_run_an_event_with_a_key() {
        Definition<String, String> flow =
                workflow("flow", (ctx, in) -> in + " " + ctx.event(STOCK).await());
        StartOptions debounced = under(StartKey.debounce("k", Duration.ofMinutes(1), DAY));
        try (PerdureTest perdure = engine(TestMode.SUSPEND_AT_EVERY_WAIT)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "first"), debounced);
            perdure.start(Invocation.of(flow, "last"), debounced);
            perdure.advance(Duration.ofHours(1));
            perdure.emit(STOCK.key("7"), "stocked");
            assertThat(run.result()).isEqualTo("last stocked");
        }
    }

    @Test
    void after_a_rotation_old_runs_go_on_and_without_the_old_key_they_are_paused() {
        Rotating keys = new Rotating();
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            String made = ctx.step("make", () -> in + " made");
            ctx.sleep(DAY);
            return made + ctx.step("ship", () -> " shipped");
        });
        try (PerdureTest perdure = create(TestMode.SUSPEND_AT_EVERY_WAIT).transform(Encryption.with(keys))) {
            perdure.register(flow);
            Run<String> first = perdure.start(Invocation.of(flow, "first"), id("first"));
            perdure.advance(Duration.ofHours(1));
            keys.now = EncryptionKeys.of("2026", Map.of("2026", NEW, "2025", OLD));
            Run<String> third = perdure.start(Invocation.of(flow, "third"), id("third"));
            perdure.advance(Duration.ofHours(23));
            assertThat(first.result()).isEqualTo("first made shipped");
            keys.now = EncryptionKeys.of("2026", Map.of("2026", NEW));
            perdure.advance(DAY);
            assertThat(third.result()).isEqualTo("third made shipped");
            Run<String> fourth = perdure.start(Invocation.of(flow, "fourth"), id("fourth"));
            perdure.advance(Duration.ofHours(1));
            keys.now = EncryptionKeys.of("2025", Map.of("2025", OLD));
            perdure.advance(DAY);
            assertThat(fourth.state()).isEqualTo(RunState.PAUSED);
            assertThat(fourth.info().reason().orElseThrow())
                    .contains("The value for the input of run 'fourth' is encrypted with the key '2026', "
                            + "which this process does not have.")
                    .endsWith("Nothing was applied. Put that right, then resume the run.");
            keys.now = EncryptionKeys.of("2026", Map.of("2026", NEW, "2025", OLD));
            fourth.resume();
            assertThat(fourth.result()).isEqualTo("fourth made shipped");
        }
    }

    @Test
    void the_reason_of_a_paused_run_quotes_no_value() {
        AtomicBoolean changed = new AtomicBoolean();
        Definition<String, String> retyped = workflow("retyped", (ctx, in) -> {
            if (changed.get()) {
                return "number " + ctx.step("make", () -> 7);
            }
            String made = ctx.step("make", () -> "secret");
            ctx.sleep(DAY);
            return made;
        });
        Definition<String, String> throwing = workflow("throwing", (ctx, in) -> {
            if (changed.get()) {
                throw new TerminalException("secret");
            }
            ctx.step("make", () -> "made");
            ctx.sleep(DAY);
            return in;
        });
        try (PerdureTest perdure = engine(TestMode.SUSPEND_AT_EVERY_WAIT)) {
            perdure.register(retyped, throwing);
            Run<String> first = perdure.start(Invocation.of(retyped, "in"), id("first"));
            Run<String> second = perdure.start(Invocation.of(throwing, "in"), id("second"));
            perdure.advance(Duration.ofHours(1));
            changed.set(true);
            perdure.advance(DAY);
            assertThat(first.info().reason().orElseThrow())
                    .contains("8 bytes cannot be read back as java.lang.Integer (the reason is hidden).")
                    .doesNotContain("secret");
            assertThat(second.info().reason().orElseThrow())
                    .contains("dev.perdure.error.TerminalException (its message is hidden)")
                    .doesNotContain("secret");
            assertThat(List.of(first.state(), second.state())).containsOnly(RunState.PAUSED);
        }
    }

    @Test
    void the_reason_of_a_dag_that_has_passed_its_deadline_quotes_no_value() {
        Dag<String, String> dag = Dag.of("late", String.class, builder -> {
            var slow = builder.workflow("slow", (ctx, t) -> {
                ctx.sleep(DAY.multipliedBy(2));
                return "";
            });
            builder.onFailure(t -> {
                throw new TerminalException("secret of " + t.input());
            });
            return slow;
        });
        try (PerdureTest perdure = engine(TestMode.NORMAL)) {
            perdure.register(dag);
            DagRun<String> run = perdure.start(dag, "in", id("late").timeout(DAY));
            assertThatThrownBy(run::result)
                    .isInstanceOf(RunFailedException.class)
                    .hasStackTraceContaining("onFailure failed too")
                    .hasStackTraceContaining("secret of in");
            assertThat(run.info().reason().orElseThrow())
                    .contains("has passed its deadline")
                    .doesNotContain("secret");
        }
    }

    @Test
    void the_reason_of_a_run_does_not_quote_a_deadline_of_its_own_code() {
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            throw new DeadlineExceededException("secret of " + in);
        });
        try (PerdureTest perdure = engine(TestMode.NORMAL)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "in"));
            assertThatThrownBy(run::result).hasStackTraceContaining("secret of in");
            assertThat(run.info().reason().orElseThrow()).doesNotContain("secret");
        }
    }

    /** A process that has not got the new key yet, which other processes encrypt commands with. */
    private static final class Late implements PayloadTransform {
        private final PayloadTransform all =
                Encryption.with(EncryptionKeys.of("2026", Map.of("2025", OLD, "2026", NEW)));
        private final Set<Payload> sent = ConcurrentHashMap.newKeySet();
        private volatile boolean late = true;

        @Override
        public Payload apply(Payload encoded, PayloadPlace place) {
            return all.apply(encoded, place);
        }

        @Override
        public Payload undo(Payload stored, PayloadPlace place) {
            boolean isSender = sent.add(stored); // It reads back what it is about to send.
            boolean lacks = late && !isSender && place.kind() == PayloadPlace.Kind.MESSAGE;
            return (lacks ? Encryption.with(KEYS) : all).undo(stored, place);
        }
    }

    @Test
    void a_schedule_waits_for_the_key_of_a_command_and_drops_nothing() {
        Definition<String, String> nightly = workflow("nightly", (ctx, in) -> in);
        Late keys = new Late();
        try (PerdureTest perdure = create(TestMode.NORMAL).transform(keys)) {
            perdure.register(nightly);
            perdure.schedules().put(Schedule.of("nightly", Times.every(DAY), Invocation.of(nightly, "in")));
            perdure.advance(Duration.ofHours(1));
            Run<Void> schedule = perdure.run(RunId.of("schedule:nightly"), TypeRef.of(Void.class));
            assertThat(schedule.state()).isEqualTo(RunState.PAUSED);
            assertThat(schedule.info().reason().orElseThrow())
                    .startsWith("A command to the schedule 'nightly' cannot be read. The value for ")
                    .contains("is encrypted with the key '2026', which this process does not have.")
                    .endsWith("Nothing was applied. Put that right, then resume the run 'schedule:nightly'.");
            keys.late = false;
            schedule.resume();
            perdure.advance(DAY.multipliedBy(3));
            assertThat(perdure.runs(RunFilter.all().definition("nightly")).list())
                    .isNotEmpty()
                    .allMatch(run -> run.state() == RunState.COMPLETED);
        }
    }

    /** The keys of a service that is away at times. */
    private static final class Service implements EncryptionKeys {
        private final AtomicBoolean refuses = new AtomicBoolean();

        /** Refuses the next request. */
        void refuse() {
            refuses.set(true);
        }

        private void answer() {
            if (refuses.getAndSet(false)) {
                throw new IllegalStateException("The service of keys is away.");
            }
        }

        @Override
        public String current() {
            answer();
            return KEYS.current();
        }

        @Override
        public Optional<SecretKey> find(String id) {
            answer();
            return KEYS.find(id);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_waits_for_keys_that_are_away_and_its_code_does_not_see_it(TestMode mode) {
        Service keys = new Service();
        List<String> seen = new CopyOnWriteArrayList<>();
        AtomicInteger bodies = new AtomicInteger();
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            try {
                String made = ctx.step("make", () -> {
                    bodies.incrementAndGet();
                    keys.refuse();
                    return in + " made";
                });
                ctx.sleep(DAY);
                return made + " and sent";
            } catch (RuntimeException thrown) {
                seen.add(thrown.toString());
                throw thrown;
            }
        });
        try (PerdureTest perdure = create(mode).transform(Encryption.with(keys))) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "in"));
            perdure.settle();
            assertThat(bodies).hasValue(1);
            keys.refuse();
            assertThat(run.result()).isEqualTo("in made and sent");
            assertThat(seen).isEmpty();
            assertThat(bodies).hasValue(1);
        }
    }

    @Test
    void a_schedule_fires_on_when_its_keys_were_away() {
        Service keys = new Service();
        Definition<String, String> nightly = workflow("nightly", (ctx, in) -> in);
        try (PerdureTest perdure = create(TestMode.NORMAL).transform(Encryption.with(keys))) {
            perdure.register(nightly);
            perdure.schedules().put(Schedule.of("nightly", Times.every(DAY), Invocation.of(nightly, "in")));
            keys.refuse();
            perdure.advance(Duration.ofHours(1));
            keys.refuse();
            perdure.advance(DAY.multipliedBy(3));
            assertThat(perdure.runs(RunFilter.all().definition("nightly")).list())
                    .hasSize(3)
                    .allMatch(run -> run.state() == RunState.COMPLETED);
        }
    }

    /** Gives a value that was stored in one place where another is asked for, as an intruder in the database would. */
    private static final class Intruder implements PayloadTransform {
        private final PayloadTransform real = Encryption.with(KEYS);
        private final PayloadPlace from;
        private final PayloadPlace to;
        private final AtomicReference<Payload> taken = new AtomicReference<>();

        Intruder(PayloadPlace from, PayloadPlace to) {
            this.from = from;
            this.to = to;
        }

        @Override
        public Payload apply(Payload encoded, PayloadPlace place) {
            Payload stored = real.apply(encoded, place);
            if (place.equals(from)) {
                taken.set(stored);
            }
            return stored;
        }

        @Override
        public Payload undo(Payload stored, PayloadPlace place) {
            Payload other = taken.get();
            return real.undo(place.equals(to) && other != null ? other : stored, place);
        }
    }

    @Test
    void a_result_that_was_moved_to_another_run_is_not_given_to_callers() {
        Definition<String, String> flow = workflow("flow", (ctx, in) -> in + " result");
        Intruder intruder = new Intruder(PayloadPlace.result(RunId.of("a")), PayloadPlace.result(RunId.of("b")));
        try (PerdureTest perdure = create(TestMode.NORMAL).transform(intruder)) {
            perdure.register(flow);
            Run<String> second = perdure.start(Invocation.of(flow, "b"), id("b"));
            assertThat(second.result()).isEqualTo("b result");
            assertThat(perdure.start(Invocation.of(flow, "a"), id("a")).result())
                    .isEqualTo("a result");
            assertThatThrownBy(second::result)
                    .hasRootCauseInstanceOf(DecryptionException.class)
                    .hasMessageContaining("The result of run 'b' of 'flow' cannot be read.")
                    .hasMessageContaining("The value found as the result of run 'b' was encrypted for another place.");
        }
    }
}
