package dev.perdure.internal.execution.transition;

import dev.perdure.internal.time.StoreClock;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.change.Awaited;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Entry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What an open future waits for: mail, a permit, a time, or several of these. */
public final class WaitCondition {
    private final Set<Channel> channels = new LinkedHashSet<>();
    private final Set<String> limiters = new LinkedHashSet<>();
    private final List<Entry> notes = new ArrayList<>();
    private final List<Runnable> whenNoted = new ArrayList<>();
    private int needed = 1;
    private @Nullable Instant time;
    private @Nullable Duration delay;

    public void mail(Channel channel) {
        channels.add(channel);
    }

    /** Waits for its turn at a limiter. */
    public void permit(String limiter) {
        limiters.add(limiter);
    }

    /**
     * For a call that the journal does not show yet: written when the run leaves memory to wait for it.
     *
     * @param durable called when it is durable
     */
    public void note(Entry entry, Runnable durable) {
        notes.add(entry);
        whenNoted.add(durable);
    }

    List<Entry> notes() {
        return notes;
    }

    void noted() {
        whenNoted.forEach(Runnable::run);
    }

    /** Only a failure can settle it before mail has arrived on each of the channels. */
    public void needsAll() {
        needed = Math.max(1, channels.size());
    }

    public void time(Instant due) {
        time = earlier(due, time);
    }

    /** For a timer that begins with the transition that makes the run wait. */
    public void delay(Duration duration) {
        delay = delay == null || duration.compareTo(delay) < 0 ? duration : delay;
    }

    /** Whether something other than the time may let it continue, and soon. */
    boolean isForNews() {
        return !channels.isEmpty() || !limiters.isEmpty();
    }

    Awaited awaited() {
        return new Awaited(Set.copyOf(channels), needed, Set.copyOf(limiters));
    }

    /** When the run continues by itself at the latest. */
    Due due(Instant now, @Nullable Instant deadline) {
        Instant fixed = time == null ? deadline : earlier(time, deadline);
        if (delay != null && (fixed == null || now.plus(delay).isBefore(fixed))) {
            return new Due.In(delay);
        }
        return fixed == null ? new Due.Never() : new Due.At(fixed);
    }

    /** The same from now on, by this worker's view of the store's clock. */
    long nanos(StoreClock clock, @Nullable Instant deadline) {
        return switch (due(clock.now(), deadline)) {
            case Due.In in -> in.delay().toNanos();
            case Due.At at -> clock.nanosUntil(at.time());
            case Due.Never() -> Clockwork.NEVER;
        };
    }

    private static Instant earlier(Instant one, @Nullable Instant other) {
        return other == null || one.isBefore(other) ? one : other;
    }
}
