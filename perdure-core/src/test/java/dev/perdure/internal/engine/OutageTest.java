package dev.perdure.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.error.StoreException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Dispatch;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/** A loop that the store does not let work must not do so in silence. */
@Timeout(20)
final class OutageTest {
    private static final Definition<String, String> ECHO =
            Definition.of("echo", String.class, String.class, (ctx, in) -> in);

    private final Logger logger = (Logger) LoggerFactory.getLogger("dev.perdure.store");
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final CountDownLatch refused = new CountDownLatch(1);
    private final CountDownLatch back = new CountDownLatch(1);

    @Test
    void polls_that_the_store_refuses_are_logged_once_and_so_is_their_end() throws Exception {
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                lines.add(event.getLevel() + " " + event.getFormattedMessage());
                (event.getLevel() == Level.ERROR ? refused : back).countDown();
            }
        };
        appender.start();
        logger.addAppender(appender);
        logger.setLevel(Level.INFO);
        MemoryStore rows = new MemoryStore();
        Dispatch unsteady = poll -> {
            if (refused.getCount() > 0) {
                throw new StoreException(StoreException.Kind.UNUSABLE, "A row is broken.", null);
            }
            return rows.dispatch().poll(poll);
        };
        try (Perdure perdure = Perdure.on(Stores.with(rows, "dispatch", unsteady))
                .register(ECHO)
                .start()) {
            refused.await();
            back.await();
            assertThat(perdure.start(Invocation.of(ECHO, "x")).result()).isEqualTo("x");
        } finally {
            logger.detachAppender(appender);
            logger.setLevel(null);
        }
        assertThat(lines)
                .containsExactly(
                        "ERROR The store refuses to work with this engine, which cannot look for runs to execute. It tries"
                                + " again; fix the cause.",
                        "INFO The store is back: this engine can look for runs to execute again.");
    }
}
