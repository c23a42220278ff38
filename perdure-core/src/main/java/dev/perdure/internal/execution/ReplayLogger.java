package dev.perdure.internal.execution;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.AbstractLogger;
import org.slf4j.helpers.MessageFormatter;

/** Passes log lines to the given logger, but not during a replay, because they were logged before. */
final class ReplayLogger extends AbstractLogger {
    private static final long serialVersionUID = 1L;

    private final transient Logger target;
    private final transient BooleanSupplier replaying;

    ReplayLogger(Logger target, BooleanSupplier replaying) {
        this.target = target;
        this.replaying = replaying;
        this.name = target.getName();
    }

    @Override
    protected @Nullable String getFullyQualifiedCallerName() {
        return null;
    }

    @Override
    protected void handleNormalizedLoggingCall(
            Level level,
            @Nullable Marker marker,
            @Nullable String message,
            Object @Nullable [] arguments,
            @Nullable Throwable thrown) {
        target.atLevel(level).setCause(thrown).log(MessageFormatter.basicArrayFormat(message, arguments));
    }

    private boolean loud(Level level) {
        return target.isEnabledForLevel(level) && !replaying.getAsBoolean();
    }

    @Override
    public boolean isTraceEnabled() {
        return loud(Level.TRACE);
    }

    @Override
    public boolean isTraceEnabled(Marker marker) {
        return loud(Level.TRACE);
    }

    @Override
    public boolean isDebugEnabled() {
        return loud(Level.DEBUG);
    }

    @Override
    public boolean isDebugEnabled(Marker marker) {
        return loud(Level.DEBUG);
    }

    @Override
    public boolean isInfoEnabled() {
        return loud(Level.INFO);
    }

    @Override
    public boolean isInfoEnabled(Marker marker) {
        return loud(Level.INFO);
    }

    @Override
    public boolean isWarnEnabled() {
        return loud(Level.WARN);
    }

    @Override
    public boolean isWarnEnabled(Marker marker) {
        return loud(Level.WARN);
    }

    @Override
    public boolean isErrorEnabled() {
        return loud(Level.ERROR);
    }

    @Override
    public boolean isErrorEnabled(Marker marker) {
        return loud(Level.ERROR);
    }
}
