package dev.perdure.spi.report;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import ch.qos.logback.core.read.ListAppender;
import ch.qos.logback.core.spi.FilterReply;
import dev.perdure.error.RecordedException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;
import org.slf4j.MarkerFactory;

/** What reaches the logging library, and that nothing of it comes back. */
final class EngineLogTest {
    private static final String NAME = "dev.perdure.test.log";

    private final LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    private final Logger target = context.getLogger(NAME);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>() {
        @Override
        protected void append(ILoggingEvent event) {
            event.getCallerData(); // it looks for the caller when it is asked first
            super.append(event);
        }
    };
    private final org.slf4j.Logger log = EngineLog.of(NAME);

    @BeforeEach
    void listen() {
        lines.start();
        target.setLevel(Level.INFO);
        target.setAdditive(false);
        target.addAppender(lines);
    }

    @AfterEach
    void stopListening() {
        target.detachAndStopAllAppenders();
        target.setAdditive(true);
        context.resetTurboFilterList();
    }

    private ILoggingEvent line() {
        assertThat(lines.list).hasSize(1);
        return lines.list.getFirst();
    }

    /** Its message cannot be asked for. */
    private static final class OddException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        OddException(Throwable cause) {
            super("odd", cause);
        }

        @Override
        public String getMessage() {
            throw new IllegalStateException("no message");
        }
    }

    @Test
    void a_line_arrives_as_it_was_written() {
        Marker marker = MarkerFactory.getMarker("M");
        IllegalStateException thrown = new IllegalStateException("no");
        log.warn(marker, "{} and {}", "one", 2, thrown);

        assertThat(line().getFormattedMessage()).isEqualTo("one and 2");
        assertThat(line().getLevel()).isEqualTo(Level.WARN);
        assertThat(line().getMarkerList()).containsExactly(marker);
        assertThat(line().getThrowableProxy().getClassName()).isEqualTo("java.lang.IllegalStateException");
        assertThat(line().getCallerData()[0].getClassName()).isEqualTo(EngineLogTest.class.getName());
        assertThat(line().getInstant()).isNotNull();
    }

    @Test
    void a_line_of_a_builder_arrives_with_its_pairs() {
        log.atError()
                .setCause(new IllegalStateException("no"))
                .addKeyValue("run", "r")
                .addKeyValue("attempt", 2)
                .log("Run {}.", "r");

        assertThat(line().getFormattedMessage()).isEqualTo("Run r.");
        assertThat(line().getKeyValuePairs())
                .extracting(pair -> pair.key + "=" + pair.value)
                .containsExactly("run=r", "attempt=2");
        assertThat(line().getThrowableProxy().getMessage()).isEqualTo("no");
        assertThat(line().getCallerData()[0].getClassName()).isEqualTo(EngineLogTest.class.getName());
    }

    @Test
    void a_line_below_the_level_is_not_written() {
        log.debug("no");
        log.atDebug().log("no");

        assertThat(lines.list).isEmpty();
        assertThat(log.isDebugEnabled()).isFalse();
        assertThat(log.isInfoEnabled()).isTrue();
    }

    @Test
    void an_exception_that_cannot_be_read_is_logged_as_far_as_it_can() {
        log.warn("It failed.", new OddException(new IllegalArgumentException("the cause")));

        assertThat(line().getFormattedMessage()).isEqualTo("It failed.");
        assertThat(line().getThrowableProxy().getMessage())
                .isEqualTo("(its getMessage() threw java.lang.IllegalStateException)");
        assertThat(line().getThrowableProxy().getCause().getMessage()).isEqualTo("the cause");
        assertThat(line().getThrowableProxy().getStackTraceElementProxyArray()).isNotEmpty();
    }

    @Test
    void of_thousands_of_causes_the_first_are_logged() {
        Exception chain = new IllegalStateException("the last");
        for (int i = 0; i < 10_000; i++) {
            chain = new IllegalStateException("cause " + i, chain);
        }
        log.warn("It failed.", chain);

        int causes = 0;
        for (var cause = line().getThrowableProxy().getCause(); cause != null; cause = cause.getCause()) {
            causes++;
        }
        assertThat(causes).isEqualTo(8);
        assertThat(line().getThrowableProxy().getClassName()).isEqualTo(RecordedException.class.getName());
    }

    @Test
    void what_the_set_up_of_the_application_throws_stays_there() {
        UnsynchronizedAppenderBase<ILoggingEvent> broken = new UnsynchronizedAppenderBase<>() {
            @Override
            public void doAppend(ILoggingEvent event) {
                throw new StackOverflowError("in an appender");
            }

            @Override
            protected void append(ILoggingEvent event) {}
        };
        broken.start();
        target.addAppender(broken);
        log.warn("It failed.", new IllegalStateException("no"));
        log.atWarn().log("It failed.");
        context.addTurboFilter(new TurboFilter() {
            @Override
            public FilterReply decide(
                    Marker marker, Logger logger, Level level, String format, Object[] arguments, Throwable thrown) {
                throw new IllegalStateException("in a filter");
            }
        });
        log.warn("It failed.");
        log.atWarn().log("It failed.");

        assertThat(log.isWarnEnabled()).isFalse();
    }
}
