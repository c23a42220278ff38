package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StartOptions.under;
import static dev.perdure.testing.scenarios.Log.log;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Awakeable;
import dev.perdure.Child;
import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.ForkOptions;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StartKey;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.audit.Operator;
import dev.perdure.bulk.ReencryptionReport;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.dag.Outputs;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.payload.Compression;
import dev.perdure.payload.Encryption;
import dev.perdure.payload.EncryptionKeys;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An old key is thrown away. */
abstract class ReencryptionScenarios extends Scenarios {
    private static final Duration DAY = Duration.ofDays(1);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Topic<String> TOLD = Topic.of("told", String.class);
    private static final Topic<String> APPROVAL = Topic.of("approval", String.class);
    private static final Topic<String> STOCK = Topic.of("stock/north", String.class);
    private static final EncryptionKeys BEFORE = EncryptionKeys.of("2025", Map.of("2025", key(1)));
    private static final EncryptionKeys DURING = EncryptionKeys.of("2026", Map.of("2025", key(1), "2026", key(2)));
    private static final EncryptionKeys AFTER = EncryptionKeys.of("2026", Map.of("2026", key(2)));

    private static SecretKey key(int filler) {
        byte[] bytes = new byte[32];
        Arrays.fill(bytes, (byte) filler);
        return new SecretKeySpec(bytes, "AES");
    }

    /** Keys that an operator changes while engines use them. */
    private static final class Rotating implements EncryptionKeys {
        private volatile EncryptionKeys now = BEFORE;

        @Override
        public String current() {
            return now.current();
        }

        @Override
        public Optional<SecretKey> find(String id) {
            return now.find(id);
        }
    }

    private final AtomicBoolean broken = new AtomicBoolean(true);

    private final Definition<String, String> part = workflow("part", (ctx, in) -> in + " part");
    private final Definition<String, String> flow = workflow("flow", (ctx, in) -> {
        String made = ctx.step("make", () -> in + " made");
        ctx.publish(TOLD, made);
        Child<String> child = ctx.startChild(Invocation.of(part, "child"));
        Awakeable<String> call = ctx.awakeable(String.class);
        DurableFuture<String> stock = ctx.event(STOCK);
        ctx.sleep(DAY);
        return String.join(
                ", ",
                made,
                child.await(),
                call.await(),
                stock.await(),
                ctx.receive(TOLD).await(),
                ctx.promise(APPROVAL).await());
    });
    private final Definition<String, String> failing = workflow("failing", (ctx, in) -> {
        String made = ctx.step("make", () -> in + " made");
        return ctx.step("ship", () -> {
            if (broken.get()) {
                throw new TerminalException("closed");
            }
            return made + " shipped";
        });
    });
    private final Dag<String, Outputs> leaves = Dag.ofLeaves("leaves", String.class, builder -> {
        builder.task("a", t -> t.input() + " a");
        builder.task("b", t -> t.input() + " b");
    });

    @ParameterizedTest
    @EnumSource(names = {"NORMAL", "SUSPEND_AT_EVERY_WAIT", "THREE_WORKERS"})
    void without_the_old_key_everything_goes_on(TestMode mode) {
        Rotating keys = new Rotating();
        String large = "large ".repeat(1000);
        try (PerdureTest perdure = create(mode)
                .maxInlineBytes(2000)
                .transform(Compression.over(9000).then(Encryption.with(keys)))) {
            perdure.register(flow, part, failing, leaves, new Log());
            Run<String> run = perdure.start(Invocation.of(flow, "in"), id("run"));
            Run<String> big = perdure.start(Invocation.of(flow, large), id("big"));
            Run<String> failed = perdure.start(Invocation.of(failing, "in"), id("failed"));
            Run<String> later = perdure.start(
                    Invocation.of(part, "later"), under(StartKey.debounce("k", HOUR.multipliedBy(5), DAY)));
            DagRun<Outputs> dag = perdure.start(leaves, "in");
            log(perdure, "a").call(Log::append, "one");
            perdure.schedules().put(Schedule.of("parts", Times.every(DAY), Invocation.of(part, "scheduled")));
            perdure.advance(HOUR);
            for (Run<String> each : List.of(run, big)) {
                each.send(TOLD, "told");
                each.promise(APPROVAL).resolve("yes");
                each.resolveAwakeable(4, "answer");
            }
            perdure.emit(STOCK.key("7/8"), "stock");
            assertThatThrownBy(failed::result).isInstanceOf(RunFailedException.class);

            keys.now = DURING;
            Run<ReencryptionReport> reencryption =
                    perdure.as(Operator.named("anna")).encryptedValues().reencrypt("2026");
            ReencryptionReport report = reencryption.result();
            assertThat(report.left()).as(report.reasons().toString()).isEmpty();
            assertThat(report.replaced()).isGreaterThan(30);
            RunInfo info = reencryption.info();
            assertThat(info.description().status()).contains("ended: " + report);
            assertThat(report.toString())
                    .isEqualTo(report.replaced() + " values encrypted anew with key '2026'; left: none");
            assertThat(info.description().memo()).hasValue("encrypt all values with key '2026', by anna");

            keys.now = AFTER;
            broken.set(false);
            assertThat(run.published(TOLD)).contains("in made");
            assertThat(run.promise(APPROVAL).await(DAY)).isEqualTo("yes");
            assertThat(perdure.start(Invocation.of(flow, "in"), id("run")).id()).isEqualTo(run.id());
            Run<String> fork = run.fork(ForkOptions.from(2).id("fork"));
            assertThat(fork.history()).isNotEmpty();
            perdure.advance(DAY);
            assertThat(run.result()).isEqualTo("in made, child part, answer, stock, told, yes");
            assertThat(big.result()).isEqualTo(large + " made, child part, answer, stock, told, yes");
            failed.retry();
            assertThat(failed.result()).isEqualTo("in made shipped");
            assertThat(later.result()).isEqualTo("later part");
            assertThat(log(perdure, "a").call(Log::append, "two")).isEqualTo(2);
            assertThat(dag.result().get("b", TypeRef.of(String.class))).isEqualTo("in b");
            assertThat(perdure.runs(RunFilter.all().definition("part").state(RunState.PAUSED))
                            .list())
                    .isEmpty();
            assertThat(perdure.run(RunId.of("schedule:parts"), TypeRef.of(Void.class))
                            .state())
                    .isEqualTo(RunState.SUSPENDED);
        }
    }

    @Test
    void results_that_were_there_before_are_read_without_the_old_key() {
        Rotating keys = new Rotating();
        try (PerdureTest perdure = create(TestMode.SUSPEND_AT_EVERY_WAIT).transform(Encryption.with(keys))) {
            perdure.register(part, leaves);
            Run<String> run = perdure.start(Invocation.of(part, "in"), id("run"));
            DagRun<Outputs> dag = perdure.start(leaves, "in");
            assertThat(run.result()).isEqualTo("in part");
            perdure.advance(DAY);
            assertThat(dag.result().tasks()).containsExactly("a", "b");
            keys.now = DURING;
            assertThat(perdure.encryptedValues().reencrypt("2026").result().left())
                    .isEmpty();
            keys.now = AFTER;
            assertThat(run.result()).isEqualTo("in part");
            assertThat(dag.result().get("b", TypeRef.of(String.class))).isEqualTo("in b");
            assertThat(dag.status().outputs().get("a", TypeRef.of(String.class)))
                    .isEqualTo("in a");
            Run<ReencryptionReport> again = perdure.encryptedValues().reencrypt("2026");
            assertThat(again.result().replaced()).as("a second time").isZero();
        }
    }

    @Test
    void values_of_a_key_that_is_missing_are_left_and_counted() {
        Rotating keys = new Rotating();
        try (PerdureTest perdure = create(TestMode.SUSPEND_AT_EVERY_WAIT).transform(Encryption.with(keys))) {
            perdure.register(part);
            perdure.start(Invocation.of(part, "in"), id("run")).result();
            keys.now = AFTER;
            Run<ReencryptionReport> run = perdure.encryptedValues().reencrypt("2026");
            ReencryptionReport report = run.result();
            assertThat(report.left()).isEqualTo(Map.of("2025", 2L));
            assertThat(report.replaced()).isZero();
            assertThat(report.reasons())
                    .containsExactlyInAnyOrder(
                            "The value for the input of run 'run' is encrypted with the key '2025', which this process does not have. Let EncryptionKeys.find(…) return it.",
                            "The value for the result of run 'run' is encrypted with the key '2025', which this process does not have. Let EncryptionKeys.find(…) return it.");
            assertThat(run.info().description().status())
                    .contains("ended: 0 values encrypted anew with key '2026'; left: 2 of key '2025'");
        }
    }

    /** A caller that has the new key, and workers that have not got it yet. */
    private static final class Deployed implements EncryptionKeys {
        private final Thread caller = Thread.currentThread();
        private volatile boolean everywhere;

        @Override
        public String current() {
            return everywhere || Thread.currentThread().equals(caller) ? "2026" : "2025";
        }

        @Override
        public Optional<SecretKey> find(String id) {
            return DURING.find(id);
        }
    }

    @Test
    void a_worker_with_another_key_pauses_it_and_a_process_with_another_key_refuses() {
        Deployed keys = new Deployed();
        try (PerdureTest perdure = create(TestMode.SUSPEND_AT_EVERY_WAIT).transform(Encryption.with(keys))) {
            assertThatThrownBy(() -> perdure.encryptedValues().reencrypt("2025"))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "This process encrypts with the key '2026', and not with '2025'. Let all processes encrypt with the key that stays, then name that.");
            assertThatThrownBy(() -> perdure.encryptedValues().reencrypt(""))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageStartingWith("The id of a key has 1 to 100 bytes of UTF-8, and '' has 0.");
            Run<ReencryptionReport> run = perdure.encryptedValues().reencrypt("2026");
            perdure.advance(HOUR);
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            assertThat(run.info().reason().orElseThrow())
                    .contains(
                            "A worker encrypts with the key '2025', and all values are to be encrypted with '2026'. Let all processes encrypt with that key, then resume the run.");
            keys.everywhere = true;
            run.resume();
            assertThat(run.result().left()).isEmpty();
        }
    }
}
