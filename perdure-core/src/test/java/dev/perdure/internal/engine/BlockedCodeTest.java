package dev.perdure.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.memory.MemoryStore;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** The code of a workflow blocks outside of a step, where nothing interrupts it. */
@SuppressWarnings("serial") // references to what only this test can reach are never written anywhere
public final class BlockedCodeTest {
    private final Logger logger = (Logger) LoggerFactory.getLogger("dev.perdure");
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final CountDownLatch begun = new CountDownLatch(3);
    private final CountDownLatch never = new CountDownLatch(1);
    private final CountDownLatch atLast = new CountDownLatch(1);
    private final List<String> after = new CopyOnWriteArrayList<>();

    private final Definition<String, String> waits = Definition.of("waits", String.class, String.class, (ctx, in) -> {
        ctx.step("before", () -> {});
        begun.countDown();
        never.await();
        return in;
    });
    private final Definition<String, String> ignores =
            Definition.of("ignores", String.class, String.class, (ctx, in) -> {
                begun.countDown();
                while (atLast.getCount() > 0) {
                    try {
                        atLast.await();
                    } catch (InterruptedException ignored) {
                        // This code is wrong.
                    }
                }
                ctx.step("after", () -> after.add(in));
                return in;
            });

    @BeforeEach
    void listen() {
        log.start();
        logger.addAppender(log);
        logger.setLevel(Level.INFO);
    }

    @AfterEach
    void listenNoMore() {
        logger.detachAppender(log);
        logger.setLevel(null);
    }

    private List<ILoggingEvent> linesAbout(String run) {
        return List.copyOf(log.list).stream()
                .filter(line -> line.getFormattedMessage().startsWith("Run " + run + " of"))
                .toList();
    }

    @Test
    void a_kill_ends_the_run_and_the_log_shows_where_its_code_is() throws Exception {
        try (Perdure perdure =
                Perdure.on(new MemoryStore()).register(waits, ignores).start()) {
            Run<String> interrupted = perdure.start(Invocation.of(waits, "interrupted"));
            Run<String> left = perdure.start(Invocation.of(ignores, "left"));
            Run<String> paused = perdure.start(Invocation.of(waits, "paused"));
            begun.await();
            interrupted.kill("it blocks");
            left.kill("it blocks");
            paused.pause("for a while");

            await().until(() -> interrupted.state() == RunState.CANCELLED && left.state() == RunState.CANCELLED);
            assertThat(interrupted.info().reason()).contains("it blocks");
            await().until(() -> List.of(interrupted, left, paused).stream()
                    .noneMatch(run -> linesAbout(run.id().value()).isEmpty()));
            assertThat(linesAbout(interrupted.id().value())).singleElement().satisfies(line -> {
                assertThat(line.getLevel()).isEqualTo(Level.WARN);
                assertThat(line.getFormattedMessage())
                        .endsWith(
                                "was killed although its code did not return. Its code was interrupted. Put what blocks there into a step, which can be interrupted.");
                assertThat(stack(line)).contains("BlockedCodeTest");
            });
            assertThat(linesAbout(left.id().value())).singleElement().satisfies(line -> {
                assertThat(line.getLevel()).isEqualTo(Level.ERROR);
                assertThat(line.getFormattedMessage()).contains("ignores the interrupt: its thread is left");
                assertThat(stack(line)).contains("BlockedCodeTest");
            });
            assertThat(linesAbout(paused.id().value())).singleElement().satisfies(line -> {
                assertThat(line.getFormattedMessage())
                        .contains("does not obey its pause: for PT2S its code has made no call on its context.");
                assertThat(stack(line)).contains("BlockedCodeTest");
            });
            assertThat(paused.state()).isEqualTo(RunState.RUNNING);
            atLast.countDown();
            never.countDown();
            await().until(() -> paused.state() == RunState.COMPLETED || paused.state() == RunState.PAUSED);
        }
        assertThat(after).as("steps of a run that was killed").isEmpty();
    }

    private static String stack(ILoggingEvent line) {
        return List.of(line.getThrowableProxy().getStackTraceElementProxyArray())
                .toString();
    }
}
