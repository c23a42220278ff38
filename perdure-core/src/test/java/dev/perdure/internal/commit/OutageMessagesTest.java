package dev.perdure.internal.commit;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.perdure.error.StoreException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class OutageMessagesTest {
    private final Logger logger = (Logger) LoggerFactory.getLogger("dev.perdure.store");
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final Outage outage = new Outage("look for runs to execute");

    @BeforeEach
    void listen() {
        log.start();
        logger.addAppender(log);
        logger.setLevel(Level.INFO);
    }

    @AfterEach
    void listenNoMore() {
        logger.setLevel(null);
        logger.detachAppender(log);
    }

    private void noticed(StoreException.Kind kind, String why) {
        outage.noticed(new StoreException(kind, why, null));
    }

    @Test
    void a_partition_that_moves_is_not_called_an_outage() {
        noticed(StoreException.Kind.MOVING, "Partition 7 is on its way.");
        outage.over();
        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly(
                        "A partition moves from one shard to another, so this engine cannot look for runs to execute. It tries again until it can: Partition 7 is on its way.",
                        "This engine can look for runs to execute again.");
    }

    @Test
    void a_store_that_is_out_of_reach_is_named_once_until_it_is_back() {
        noticed(StoreException.Kind.UNAVAILABLE, "connection refused");
        noticed(StoreException.Kind.UNAVAILABLE, "connection refused");
        outage.over();
        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly(
                        "The store is out of reach, so this engine cannot look for runs to execute. It tries again until it can: connection refused",
                        "The store is back: this engine can look for runs to execute again.");
    }
}
