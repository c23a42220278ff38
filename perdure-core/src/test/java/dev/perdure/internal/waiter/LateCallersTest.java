package dev.perdure.internal.waiter;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.internal.time.SystemClockwork;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.RunRef;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Callers that wait for long for a run that is not at work. */
class LateCallersTest {
    private static final Definition<String, String> ECHO =
            Definition.of("echo", String.class, String.class, (ctx, in) -> in);

    /** A clockwork whose monotonic time a test moves. */
    private static final class Moved implements Clockwork {
        private final SystemClockwork system = new SystemClockwork();
        private final AtomicLong ahead = new AtomicLong();

        @Override
        public Instant now() {
            return system.now();
        }

        @Override
        public long nanoTime() {
            return system.nanoTime() + ahead.get();
        }

        @Override
        public long random() {
            return system.random();
        }

        @Override
        public Signal signal() {
            return system.signal();
        }

        @Override
        public void fork(String name, Runnable task) {
            system.fork(name, task);
        }

        @Override
        public void loop(String name, Runnable task) {
            system.loop(name, task);
        }

        @Override
        public Runnable alarm(Duration delay, Runnable task) {
            return system.alarm(delay, task);
        }
    }

    /** Collects the lines of the log. */
    private static final class Lines extends AppenderBase<ILoggingEvent> {
        private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

        @Override
        protected void append(ILoggingEvent event) {
            lines.add(event.getLevel() + " " + event.getFormattedMessage());
        }
    }

    @Test
    void a_caller_that_waits_for_long_is_told_why_once() throws InterruptedException {
        Logger logger = (Logger) LoggerFactory.getLogger("dev.perdure.run");
        Lines lines = new Lines();
        lines.start();
        logger.addAppender(lines);
        logger.setLevel(Level.WARN);
        Moved clockwork = new Moved();
        MemoryStore store = new MemoryStore();
        Waiters<RunRef, Runs.Ended> waiters =
                new Waiters<>("results", clockwork, new ResultWaiters(store.runs(), run -> false));
        try (Perdure client = Perdure.on(store).client()) {
            RunRef first = start(client, store, "first");
            waiters.start();
            call(clockwork, waiters, first);
            call(clockwork, waiters, first);
            awaitCallers(waiters, 2);
            clockwork.ahead.addAndGet(Waiters.LATE.plusSeconds(1).toNanos());
            assertThat(lines.lines.poll(20, TimeUnit.SECONDS))
                    .isEqualTo(
                            "WARN A caller has waited for run first of 'echo' for PT30S, as have 1 others for this or other runs. The run is READY: No live worker has the definition 'echo'.");
            call(clockwork, waiters, start(client, store, "second"));
            awaitCallers(waiters, 3);
            clockwork.ahead.addAndGet(Waiters.LATE.plusSeconds(1).toNanos());
            assertThat(lines.lines.poll(20, TimeUnit.SECONDS))
                    .as("a line without the callers that were told before")
                    .isEqualTo(
                            "WARN A caller has waited for run second of 'echo' for PT30S. The run is READY: No live worker has the definition 'echo'.");
        } finally {
            waiters.close();
            logger.detachAppender(lines);
            logger.setLevel(null);
        }
    }

    private static RunRef start(Perdure client, MemoryStore store, String id) {
        Run<String> run = client.start(Invocation.of(ECHO, "x"), StartOptions.id(id));
        return store.runs().find(run.id()).orElseThrow().ref();
    }

    private static void call(Clockwork clockwork, Waiters<RunRef, Runs.Ended> waiters, RunRef run) {
        clockwork.fork("caller", () -> {
            try {
                waiters.await(run, Clockwork.NEVER);
            } catch (InterruptedException stray) {
                throw new IllegalStateException(stray);
            }
        });
    }

    private static void awaitCallers(Waiters<RunRef, Runs.Ended> waiters, int callers) {
        while (waiters.callers() < callers) {
            Thread.onSpinWait();
        }
    }
}
