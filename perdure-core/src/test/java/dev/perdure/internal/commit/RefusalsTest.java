package dev.perdure.internal.commit;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.perdure.error.StoreException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class RefusalsTest {
    private static final Duration PAUSE = Duration.ofMinutes(10);

    private final Logger logger = (Logger) LoggerFactory.getLogger("dev.perdure.store");
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    /** The monotonic time of a process may overflow. */
    private final ManualClockwork clockwork = new ManualClockwork(Long.MAX_VALUE - PAUSE.toNanos() / 2);

    private final Refusals refusals = new Refusals(clockwork);

    @BeforeEach
    void listen() {
        log.start();
        logger.addAppender(log);
    }

    @AfterEach
    void listenNoMore() {
        logger.detachAppender(log);
    }

    private void notice(StoreException.Kind kind) {
        refusals.noticed("The mail of run 'a'", new StoreException(kind, "permission denied", null));
    }

    @Test
    void a_refusal_is_logged_at_once_with_what_to_do_and_the_stack() {
        notice(StoreException.Kind.UNUSABLE);
        assertThat(log.list).singleElement().satisfies(event -> {
            assertThat(event.getLevel()).isEqualTo(Level.ERROR);
            assertThat(event.getFormattedMessage())
                    .startsWith("The mail of run 'a' is refused.")
                    .contains("Fix what the error names", "every 10 minutes");
            assertThat(event.getThrowableProxy().getMessage()).isEqualTo("permission denied");
        });
    }

    @Test
    void it_is_logged_again_after_ten_minutes_and_not_before() {
        notice(StoreException.Kind.UNUSABLE);
        notice(StoreException.Kind.UNUSABLE);
        clockwork.moveOn(PAUSE.minusNanos(1));
        notice(StoreException.Kind.UNUSABLE);
        assertThat(log.list).hasSize(1);
        clockwork.moveOn(Duration.ofNanos(1));
        notice(StoreException.Kind.UNUSABLE);
        notice(StoreException.Kind.UNUSABLE);
        assertThat(log.list).hasSize(2);
    }

    @Test
    void an_outage_is_no_refusal() {
        notice(StoreException.Kind.UNAVAILABLE);
        assertThat(log.list).isEmpty();
        notice(StoreException.Kind.UNUSABLE);
        assertThat(log.list).hasSize(1);
    }
}
