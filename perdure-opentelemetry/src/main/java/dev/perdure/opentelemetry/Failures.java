package dev.perdure.opentelemetry;

import dev.perdure.error.RecordedException;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import java.nio.channels.ClosedByInterruptException;

/**
 * What spans tell about failures.
 *
 * @param messages whether they have the messages and stack traces of exceptions, which may hold data of the application
 */
record Failures(boolean messages) {
    static final AttributeKey<Boolean> INTERRUPTED = AttributeKey.booleanKey("perdure.interrupted");

    private static final AttributeKey<String> TYPE = AttributeKey.stringKey("exception.type");

    /** The body of an attempt has thrown. One that was interrupted, for a cancel or a deploy, has not failed. */
    void attempt(Span span, Throwable thrown) {
        if (isInterrupt(thrown)) {
            span.setAttribute(INTERRUPTED, true);
        } else if (messages) {
            RecordedException readable = RecordedException.of(thrown); // methods of an exception may throw
            span.recordException(readable, Attributes.of(TYPE, readable.type()));
            span.setStatus(StatusCode.ERROR, readable.toString());
        } else {
            String type = thrown.getClass().getName();
            span.addEvent("exception", Attributes.of(TYPE, type));
            span.setStatus(StatusCode.ERROR, type);
        }
    }

    private static boolean isInterrupt(Throwable thrown) {
        return thrown instanceof InterruptedException
                || thrown instanceof ClosedByInterruptException
                || Thread.currentThread().isInterrupted();
    }

    /** A run has failed for this reason, which has the message of an exception. */
    void run(Span span, String reason) {
        if (messages) {
            span.setStatus(StatusCode.ERROR, reason);
        } else {
            span.setStatus(StatusCode.ERROR);
        }
    }
}
