package dev.perdure.internal.handle;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.ForkOptions;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.memory.MemoryStore;
import dev.perdure.payload.Encryption;
import dev.perdure.payload.EncryptionKeys;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadPlace;
import dev.perdure.spi.payload.PayloadTransform;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

class OvertakenForkTest {
    /** Lets something happen while a fork reads the first entry of the run. */
    private static final class Overtaking implements PayloadTransform {
        private final PayloadTransform real =
                Encryption.with(EncryptionKeys.of("k", Map.of("k", new SecretKeySpec(new byte[16], "AES"))));
        private final AtomicReference<Runnable> meanwhile = new AtomicReference<>(() -> {});

        @Override
        public Payload apply(Payload encoded, PayloadPlace place) {
            return real.apply(encoded, place);
        }

        @Override
        public Payload undo(Payload stored, PayloadPlace place) {
            if (place.equals(PayloadPlace.entry(RunId.of("run"), 1))) {
                meanwhile.getAndSet(() -> {}).run();
            }
            return real.undo(stored, place);
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
        Overtaking transform = new Overtaking();
        try (Perdure perdure = Perdure.on(new MemoryStore())
                .transform(transform)
                .register(flow)
                .start()) {
            Run<String> run = perdure.start(Invocation.of(flow, "in"), id("run"));
            assertThat(inside.await(30, TimeUnit.SECONDS)).isTrue();
            transform.meanwhile.set(() -> {
                release.countDown();
                run.result();
            });
            Run<String> fork = run.fork(ForkOptions.from(3).id("fork"));
            assertThat(fork.result(Duration.ofSeconds(30))).isEqualTo("in first second");
            assertThat(bodies).as("the fork took over the second answer").hasValue(1);
        }
    }
}
