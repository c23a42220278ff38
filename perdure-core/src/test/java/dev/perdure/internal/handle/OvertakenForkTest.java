package dev.perdure.internal.handle;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.ForkOptions;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.attribute.Attribute;
import dev.perdure.error.RetryRefusedException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.payload.Encryption;
import dev.perdure.payload.EncryptionKeys;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadPlace;
import dev.perdure.spi.payload.PayloadTransform;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class OvertakenForkTest {
    private static final Attribute<String> EMAIL = Attribute.text("email");
    private static final Attribute<Number> PROGRESS = Attribute.number("progress");
    private static final PayloadPlace FIRST_ENTRY = PayloadPlace.entry(RunId.of("run"), 1);

    /** Lets something happen while a fork reads a value of the run. */
    private static final class Overtaking implements PayloadTransform {
        private final PayloadTransform real = Encryption.with(
                        EncryptionKeys.of("k", Map.of("k", new SecretKeySpec(new byte[16], "AES"))))
                .attributes(EMAIL);
        private final PayloadPlace place;
        private final AtomicReference<Runnable> meanwhile = new AtomicReference<>(() -> {});

        Overtaking(PayloadPlace place) {
            this.place = place;
        }

        @Override
        public boolean encryptsAttribute(String name) {
            return real.encryptsAttribute(name);
        }

        @Override
        public Payload apply(Payload encoded, PayloadPlace at) {
            return real.apply(encoded, at);
        }

        @Override
        public Payload undo(Payload stored, PayloadPlace at) {
            if (at.equals(place)) {
                meanwhile.get().run();
            }
            return real.undo(stored, at);
        }
    }

    /** A run whose progress changes when a test says so. */
    private static final class Progressing {
        private final Semaphore next = new Semaphore(0);
        private final Semaphore stored = new Semaphore(0);
        private final AtomicBoolean ending = new AtomicBoolean();
        private final Definition<String, String> flow = flow(next, stored, ending);

        private static Definition<String, String> flow(Semaphore next, Semaphore stored, AtomicBoolean ending) {
            return Definition.of("flow", String.class, String.class, (ctx, in) -> {
                String first = ctx.step("first", () -> in + " first");
                if (in.equals("fork")) {
                    return first;
                }
                for (int done = 1; ; done++) {
                    ctx.attribute(PROGRESS, done);
                    boolean last = ctx.step("work", () -> {
                        stored.release();
                        next.acquire();
                        return ending.get();
                    });
                    if (last) {
                        return first;
                    }
                }
            });
        }

        Run<String> start(Perdure perdure) {
            Run<String> run = perdure.start(Invocation.of(flow, "in"), id("run").attribute(EMAIL, "anna@example.org"));
            awaitStored();
            return run;
        }

        void goOn() {
            next.release();
            awaitStored();
        }

        /** The body of a step begins when the attribute before it is stored. */
        private void awaitStored() {
            try {
                stored.acquire();
            } catch (InterruptedException timeout) {
                throw new IllegalStateException("The test takes too long.", timeout);
            }
        }

        void end() {
            ending.set(true);
            next.release();
        }
    }

    private static Perdure engine(Overtaking transform, Definition<?, ?> flow) {
        return Perdure.on(new MemoryStore()).transform(transform).register(flow).start();
    }

    @Test
    void a_run_that_changes_its_attributes_while_its_journal_is_copied_is_forked() {
        Overtaking transform = new Overtaking(FIRST_ENTRY);
        Progressing progressing = new Progressing();
        try (Perdure perdure = engine(transform, progressing.flow)) {
            Run<String> run = progressing.start(perdure);
            transform.meanwhile.set(progressing::goOn);
            Run<String> fork = run.fork(ForkOptions.from(2).input("fork").id("fork"));
            transform.meanwhile.set(() -> {});
            assertThat(fork.info().description().get(PROGRESS).orElseThrow().intValue())
                    .as("as it was after the journal was read, at the first try")
                    .isEqualTo(2);
            assertThat(fork.result(Duration.ofSeconds(30))).isEqualTo("in first");
            progressing.end();
            run.result(Duration.ofSeconds(30));
        }
    }

    @Test
    void a_run_that_changes_during_each_try_is_not_forked_and_the_refusal_says_what_to_do() {
        Overtaking transform = new Overtaking(PayloadPlace.attribute(RunId.of("run"), EMAIL.name()));
        Progressing progressing = new Progressing();
        try (Perdure perdure = engine(transform, progressing.flow)) {
            Run<String> run = progressing.start(perdure);
            transform.meanwhile.set(progressing::goOn);
            assertThatThrownBy(() -> run.fork(ForkOptions.from(2).input("fork").id("fork")))
                    .isInstanceOf(RetryRefusedException.class)
                    .hasMessage(
                            "Run 'run' is not forked. It has changed its attributes or its journal during each of 8 tries to copy them. Pause the run, fork it, and resume it.");
            transform.meanwhile.set(() -> {});
            assertThat(perdure.runs(RunFilter.all().idPrefix("fork")).list()).isEmpty();
            progressing.end();
            run.result(Duration.ofSeconds(30));
        }
    }

    @Test
    void a_fork_can_read_an_answer_that_the_run_records_while_it_is_forked() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        AtomicInteger bodies = new AtomicInteger();
        Definition<String, String> flow = Definition.of("flow", String.class, String.class, (ctx, in) -> {
            String first = ctx.step("first", () -> in + " first");
            return ctx.step("second", () -> {
                bodies.incrementAndGet();
                inside.countDown();
                release.await();
                return first + " second";
            });
        });
        Overtaking transform = new Overtaking(FIRST_ENTRY);
        try (Perdure perdure = engine(transform, flow)) {
            Run<String> run = perdure.start(Invocation.of(flow, "in"), id("run"));
            assertThat(inside.await(30, TimeUnit.SECONDS)).isTrue();
            transform.meanwhile.set(() -> {
                transform.meanwhile.set(() -> {});
                release.countDown();
                run.result();
            });
            Run<String> fork = run.fork(ForkOptions.from(3).id("fork"));
            assertThat(fork.result(Duration.ofSeconds(30))).isEqualTo("in first second");
            assertThat(bodies).as("the fork took over the second answer").hasValue(1);
        }
    }

    @Test
    void a_fork_has_input_and_journal_of_one_life_of_a_run_that_continues_as_new_meanwhile() throws Exception {
        Semaphore inside = new Semaphore(0);
        Semaphore release = new Semaphore(0);
        Definition<String, String> flow = Definition.of("flow", String.class, String.class, (ctx, in) -> {
            String first = ctx.step("first", () -> "first of " + in);
            if (ctx.runId().equals(RunId.of("fork"))) {
                return in + ", " + first;
            }
            ctx.step("wait", () -> {
                inside.release();
                release.acquire();
                return "";
            });
            if (in.equals("1")) {
                throw ctx.continueAsNew("2");
            }
            return first;
        });
        Overtaking transform = new Overtaking(PayloadPlace.input(RunId.of("run")));
        try (Perdure perdure = engine(transform, flow)) {
            Run<String> run = perdure.start(Invocation.of(flow, "1"), id("run"));
            inside.acquire();
            transform.meanwhile.set(() -> {
                transform.meanwhile.set(() -> {});
                release.release();
                inside.acquireUninterruptibly();
            });
            Run<String> fork = run.fork(ForkOptions.from(2).id("fork"));
            assertThat(fork.result(Duration.ofSeconds(30))).isEqualTo("2, first of 2");
            release.release();
            run.result(Duration.ofSeconds(30));
        }
    }
}
