package dev.perdure.internal.execution.step;

import dev.perdure.RetryPolicy;
import dev.perdure.StepOptions;
import dev.perdure.error.ContextMisuseException;
import dev.perdure.error.PayloadException;
import dev.perdure.error.StepFailedException;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.transition.Transitions;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.failure.FailedAttempt;
import dev.perdure.internal.failure.Failure;
import dev.perdure.internal.text.Texts;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.report.EngineLog;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** Whether another attempt follows a failed one, and how the journal has that. */
public record Verdicts(Host host, Transitions transitions, Values values) {
    private static final Logger LOG = EngineLog.of("dev.perdure.run");
    /** How much of an exception's text the line has. The stack and the history have the rest. */
    private static final int MOST_SHOWN = 300;

    /**
     * The consequence of a failed attempt.
     *
     * @param attempt the attempt to record
     * @param again how long until the next attempt, or null if there is none
     */
    public record Verdict(FailedAttempt attempt, @Nullable Duration again) {}

    /** Applies the policy to a failed attempt, and logs it, because a retried attempt shows nowhere else. */
    public Verdict judge(
            ContextCall call,
            StepOptions options,
            RunningAttempt attempt,
            Throwable thrown,
            @Nullable Instant firstFailure) {
        RetryPolicy policy = options.retry().orElse(host.rules().retry());
        Instant now = host.clock().now();
        Duration elapsed = firstFailure == null ? Duration.ZERO : Duration.between(firstFailure, now);
        Failure failure = Failure.of(thrown);
        Duration wanted = attempt.retryAfter();
        Duration delay = wanted == null ? policy.delay(attempt.number(), chance()) : wanted;
        // The effect has happened, and the next result could not be stored either, because the code would be the same.
        boolean inVain = thrown instanceof PayloadException || thrown instanceof ContextMisuseException;
        boolean again = !inVain && policy.retries(thrown) && policy.allows(attempt.number(), elapsed.plus(delay));
        LOG.atWarn()
                .setCause(
                        again && !host.attemptStacks().isDue(transitions.definition(), call.name(), thrown, now)
                                ? null
                                : thrown)
                .addKeyValue("run", transitions.run())
                .addKeyValue("definition", transitions.definition())
                .addKeyValue("step", call.name())
                .addKeyValue("attempt", attempt.number())
                .addKeyValue("last", !again)
                .log(
                        "Run {} of '{}': {} failed at attempt {} ({}){}.",
                        transitions.run(),
                        transitions.definition(),
                        call.describe(),
                        attempt.number(),
                        shown(failure),
                        again
                                ? "; the next attempt is in " + delay
                                : ", the last; the workflow gets a " + StepFailedException.class.getSimpleName());
        if (!again) {
            attempt.writeLast();
        }
        return again
                ? new Verdict(new FailedAttempt(failure, attempt.number(), delay.toMillis(), attempt.reported()), delay)
                : new Verdict(new FailedAttempt(failure, attempt.number(), 0, attempt.reported()), null);
    }

    private static String shown(Failure failure) {
        return Texts.storable(failure.summary().replaceAll("\\s+", " "), MOST_SHOWN);
    }

    /** After this many failed attempts no other follows, because the run was told to end. */
    public Verdict giveUp(int failed, RuntimeException why) {
        return new Verdict(new FailedAttempt(Failure.of(why), failed, 0), null);
    }

    /** The entry that records a verdict. */
    public Entry entry(ContextCall call, Verdict verdict) {
        Payload payload = values.at(call.position()).encode(verdict.attempt());
        return verdict.again() == null
                ? call.answer(Entry.Status.FAILURE, payload)
                : call.note(verdict.attempt().attempt(), Entry.Status.ATTEMPT, payload);
    }

    /** What an entry says about a failed attempt. */
    public FailedAttempt failedAttempt(ContextCall call, Entry entry) {
        try {
            return values.at(call.position()).decode(entry.payload(), FailedAttempt.class);
        } catch (PayloadException unreadable) {
            throw transitions.unreadable(call, unreadable);
        }
    }

    /** A random number from 0 to 1. */
    private double chance() {
        return (host.clockwork().random() >>> 11) * 0x1.0p-53;
    }

    /** What the workflow gets after the last attempt. */
    public static StepFailedException failed(String step, FailedAttempt last) {
        return new StepFailedException(step, last.attempt(), last.failure().toException());
    }
}
