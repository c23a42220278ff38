package dev.perdure.internal.execution.transition;

import dev.perdure.error.DeadlineExceededException;
import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.Host;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The deadline of a run in memory. It is open until it has been delivered to the code, which happens once, at the first
 * call after it that the journal does not answer.
 */
public final class RunDeadline {
    private final HeldRun held;
    private final Host host;

    private boolean delivered;
    private boolean ignored;
    private boolean reached;

    RunDeadline(HeldRun held, Host host) {
        this.held = held;
        this.host = host;
    }

    /** The deadline, if it can end the wait of the run; otherwise null. */
    public @Nullable Instant open() {
        return delivered || ignored ? null : held.deadline();
    }

    /** Whether the next call gets the deadline. */
    public boolean isPast() {
        Instant deadline = open();
        return deadline != null && (reached || !deadline.isAfter(host.clock().now()));
    }

    /**
     * The time up to which the code may see what has happened: the deadline if it has passed and is not delivered, because what came
     * after it comes too late, whenever a worker looks.
     */
    public Instant time() {
        Instant now = host.clock().now();
        Instant deadline = open();
        return deadline != null && deadline.isBefore(now) ? deadline : now;
    }

    /** Whether something that has arrived at this time, or a moment ago if that is null, is in time. */
    public boolean isInTime(@Nullable Instant arrival) {
        Instant deadline = open();
        return deadline == null || !isPast() || arrival != null && arrival.isBefore(deadline);
    }

    /** It has interrupted a body: the next call gets it, whatever the time is. */
    public void reach() {
        reached = true;
    }

    /** The run has tasks, which have the same deadline, so it is not delivered to the run itself. */
    public void leaveToTasks() {
        delivered = true;
    }

    /** Carries something out that takes as long as it takes. */
    void ignoreDuring(Runnable work) {
        ignored = true;
        try {
            work.run();
        } finally {
            ignored = false;
        }
    }

    /** It is delivered, now or by an entry of the journal. */
    DeadlineExceededException deliver(String deadline) {
        delivered = true;
        return exceeded(deadline);
    }

    /** What the code gets. */
    DeadlineExceededException exceeded(String deadline) {
        return new DeadlineExceededException(sentence(deadline));
    }

    /** What the message about the deadline begins with: all that the engine itself says of it. */
    public Optional<String> sentence() {
        return Optional.ofNullable(held.deadline()).map(Instant::toString).map(this::sentence);
    }

    private String sentence(String deadline) {
        return "Run '%s' has passed its deadline %s.".formatted(held.run().id(), deadline);
    }

    /** Interrupts a body when it is reached. Returns a handle to cancel that. */
    public Runnable arm(BodyGuard body) {
        Instant deadline = open();
        if (deadline == null) {
            return () -> {};
        }
        Duration left = Duration.ofNanos(host.clock().nanosUntil(deadline));
        return host.clockwork().alarm(left, () -> body.interrupt(BodyGuard.Cause.DEADLINE));
    }
}
