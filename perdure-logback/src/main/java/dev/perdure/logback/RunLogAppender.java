package dev.perdure.logback;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import dev.perdure.spi.report.StepLog;
import org.slf4j.event.Level;

/**
 * Keeps what step bodies log with their runs. Add it to {@code logback.xml} beside your other appenders; a filter
 * chooses the lines:
 *
 * <pre>{@code
 * <appender name="RUNS" class="dev.perdure.logback.RunLogAppender">
 *   <filter class="ch.qos.logback.classic.filter.ThresholdFilter"><level>INFO</level></filter>
 * </appender>
 * }</pre>
 *
 * <p>It takes the lines that are logged on the thread of a body, from any logger. Do not put it behind an
 * {@code AsyncAppender}, which logs on a thread of its own: it waits for nothing anyway.
 */
public final class RunLogAppender extends UnsynchronizedAppenderBase<ILoggingEvent> {
    /** For Logback. */
    public RunLogAppender() {}

    @Override
    protected void append(ILoggingEvent event) {
        if (StepLog.isOpen()) {
            StepLog.append(Level.valueOf(event.getLevel().levelStr), event.getLoggerName(), text(event));
        }
    }

    private static String text(ILoggingEvent event) {
        IThrowableProxy thrown = event.getThrowableProxy();
        return thrown == null
                ? event.getFormattedMessage()
                : event.getFormattedMessage() + "\n" + ThrowableProxyUtil.asString(thrown);
    }
}
