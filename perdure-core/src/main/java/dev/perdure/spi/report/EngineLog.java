package dev.perdure.spi.report;

import dev.perdure.error.RecordedException;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;
import org.slf4j.event.DefaultLoggingEvent;
import org.slf4j.event.KeyValuePair;
import org.slf4j.event.Level;
import org.slf4j.event.LoggingEvent;
import org.slf4j.helpers.AbstractLogger;
import org.slf4j.spi.LoggingEventAware;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * The loggers of the engine and its stores. They never throw, because logging must not decide how a run goes on, and
 * exceptions of users may throw when a logging library asks them for their message, stack trace or cause, or may have
 * thousands of causes. So may appenders, filters and encoders of an application.
 *
 * <p>How it works: an exception with many others behind it is logged as a {@link RecordedException}, and so is one whose
 * first try throws. If that throws, too, the line is lost.
 */
public final class EngineLog extends AbstractLogger implements LoggingEventAware {
    private static final long serialVersionUID = 1L;

    /** How many causes and suppressed exceptions of an exception are logged as they are. */
    private static final int MOST = 100;

    private final transient Logger target;

    private EngineLog(Logger target) {
        this.target = target;
        this.name = target.getName();
    }

    /** The logger of this name. */
    public static Logger of(String name) {
        return new EngineLog(LoggerFactory.getLogger(name));
    }

    @Override
    protected String getFullyQualifiedCallerName() {
        return AbstractLogger.class.getName();
    }

    @Override
    protected void handleNormalizedLoggingCall(
            Level level,
            @Nullable Marker marker,
            @Nullable String message,
            Object @Nullable [] arguments,
            @Nullable Throwable thrown) {
        DefaultLoggingEvent event = event(level, marker == null ? List.of() : List.of(marker), message, arguments);
        event.setCallerBoundary(getFullyQualifiedCallerName());
        write(event, thrown);
    }

    /** For the builders of lines. */
    @Override
    public void log(LoggingEvent built) {
        DefaultLoggingEvent event =
                event(built.getLevel(), built.getMarkers(), built.getMessage(), built.getArgumentArray());
        List<KeyValuePair> pairs = built.getKeyValuePairs();
        if (pairs != null) {
            pairs.forEach(pair -> event.addKeyValue(pair.key, pair.value));
        }
        event.setCallerBoundary(built.getCallerBoundary());
        write(event, built.getThrowable());
    }

    private DefaultLoggingEvent event(
            Level level, @Nullable List<Marker> markers, @Nullable String message, Object @Nullable [] arguments) {
        DefaultLoggingEvent event = new DefaultLoggingEvent(level, target);
        event.setMessage(message);
        if (markers != null) {
            markers.forEach(event::addMarker);
        }
        if (arguments != null) {
            event.addArguments(arguments);
        }
        return event;
    }

    private void write(DefaultLoggingEvent event, @Nullable Throwable thrown) {
        boolean asItIs = thrown == null || !hasMany(thrown);
        if (!(asItIs && written(event, thrown)) && thrown != null) {
            written(event, RecordedException.of(thrown));
        }
    }

    private boolean written(DefaultLoggingEvent event, @Nullable Throwable thrown) {
        event.setThrowable(thrown);
        try {
            if (target instanceof LoggingEventAware aware) {
                aware.log(event);
            } else {
                builder(event).log();
            }
            return true;
        } catch (Throwable unable) { // Whatever it is, the run goes on without this line.
            return false;
        }
    }

    private LoggingEventBuilder builder(DefaultLoggingEvent event) {
        LoggingEventBuilder builder =
                target.atLevel(event.getLevel()).setMessage(event.getMessage()).setCause(event.getThrowable());
        if (event.getMarkers() != null) {
            for (Marker marker : event.getMarkers()) {
                builder = builder.addMarker(marker);
            }
        }
        if (event.getArguments() != null) {
            for (Object argument : event.getArguments()) {
                builder = builder.addArgument(argument);
            }
        }
        if (event.getKeyValuePairs() != null) {
            for (KeyValuePair pair : event.getKeyValuePairs()) {
                builder = builder.addKeyValue(pair.key, pair.value);
            }
        }
        return builder;
    }

    private static boolean hasMany(Throwable thrown) {
        Set<Throwable> known = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Throwable> left = new ArrayDeque<>(List.of(thrown));
        try {
            while (!left.isEmpty() && known.size() <= MOST) {
                Throwable next = left.pop();
                if (known.add(next)) {
                    left.addAll(List.of(next.getSuppressed()));
                    Throwable cause = next.getCause();
                    if (cause != null) {
                        left.push(cause);
                    }
                }
            }
            return known.size() > MOST;
        } catch (Throwable odd) {
            return true;
        }
    }

    private static boolean holds(BooleanSupplier enabled) {
        try {
            return enabled.getAsBoolean();
        } catch (Throwable odd) { // of a filter
            return false;
        }
    }

    @Override
    public boolean isTraceEnabled() {
        return holds(target::isTraceEnabled);
    }

    @Override
    public boolean isTraceEnabled(Marker marker) {
        return holds(() -> target.isTraceEnabled(marker));
    }

    @Override
    public boolean isDebugEnabled() {
        return holds(target::isDebugEnabled);
    }

    @Override
    public boolean isDebugEnabled(Marker marker) {
        return holds(() -> target.isDebugEnabled(marker));
    }

    @Override
    public boolean isInfoEnabled() {
        return holds(target::isInfoEnabled);
    }

    @Override
    public boolean isInfoEnabled(Marker marker) {
        return holds(() -> target.isInfoEnabled(marker));
    }

    @Override
    public boolean isWarnEnabled() {
        return holds(target::isWarnEnabled);
    }

    @Override
    public boolean isWarnEnabled(Marker marker) {
        return holds(() -> target.isWarnEnabled(marker));
    }

    @Override
    public boolean isErrorEnabled() {
        return holds(target::isErrorEnabled);
    }

    @Override
    public boolean isErrorEnabled(Marker marker) {
        return holds(() -> target.isErrorEnabled(marker));
    }
}
