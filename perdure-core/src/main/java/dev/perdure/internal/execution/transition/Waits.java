package dev.perdure.internal.execution.transition;

import dev.perdure.RunState;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.change.Awaited;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Entry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How a run waits: in its thread if the wait is short or bodies run, otherwise out of memory, as a row. */
public record Waits(Host host, RunSignals signals, Transitions transitions) {
    /**
     * Begins a wait: records it, and leaves memory with the same transition if the wait is long. Otherwise returns when
     * it is due.
     */
    public Instant begin(Entry beginning, Duration delay, RunState state) {
        if (delay.compareTo(host.rules().warmWindow()) <= 0 || transitions.bodiesAtWork()) {
            return transitions.append(List.of(beginning)).plus(delay);
        }
        Instant deadline = transitions.deadline().open();
        Instant end = host.clock().now().plus(delay);
        Due due = deadline != null && deadline.isBefore(end) ? new Due.At(deadline) : new Due.In(delay);
        return transitions
                .suspend(List.of(beginning), state, due, Awaited.NOTHING)
                .plus(delay);
    }

    /** Waits until it is due, in memory or out of it. A cancel or the deadline is delivered as the call's answer. */
    public void await(ContextCall call, Instant due, RunState state) {
        while (transitions.deadline().time().isBefore(due)) {
            transitions.obeySignals();
            transitions.deliverTo(call);
            Instant until = earlier(due, transitions.deadline().open());
            long nanos = host.clock().nanosUntil(until);
            transitions.flush(); // so that bodies that have finished do not count as running
            if (nanos <= host.rules().warmWindow().toNanos() || transitions.bodiesAtWork()) {
                signals.awaitNews(nanos, Clockwork.NEVER);
            } else {
                transitions.suspend(List.of(), state, new Due.At(until), Awaited.NOTHING);
            }
        }
    }

    /**
     * Waits for what a future waits for: in memory while bodies run, for the warm window, or if it is due soon;
     * otherwise out of memory. Returns when the caller should check again.
     */
    public void await(WaitCondition wanted) {
        Instant deadline = transitions.deadline().open();
        Due due = wanted.due(host.clock().now(), deadline);
        long nanos = wanted.nanos(host.clock(), deadline);
        if (transitions.bodiesAtWork() || nanos <= host.rules().warmWindow().toNanos()) {
            transitions.flush();
            stayWarm(wanted, nanos, Clockwork.NEVER);
            return;
        }
        boolean staysWarm = wanted.isForNews() && !host.rules().warmWindow().isZero();
        if (staysWarm) {
            transitions.flush();
            if (stayWarm(wanted, nanos, host.rules().warmWindow().toNanos())) {
                return;
            }
        }
        transitions.suspend(wanted.notes(), RunState.SUSPENDED, due, wanted.awaited());
        wanted.noted();
    }

    /**
     * As {@link #await(WaitCondition)}, but leaves memory at once unless it is due soon: for mail that rarely arrives
     * soon.
     */
    public void awaitOutOfMemory(WaitCondition wanted) {
        Instant deadline = transitions.deadline().open();
        long nanos = wanted.nanos(host.clock(), deadline);
        if (nanos <= host.rules().warmWindow().toNanos()) {
            transitions.flush();
            stayWarm(wanted, nanos, Clockwork.NEVER);
        } else {
            Due due = wanted.due(host.clock().now(), deadline);
            transitions.suspend(List.of(), RunState.SUSPENDED, due, wanted.awaited());
        }
    }

    /**
     * Waits in memory. Returns whether something happened. If the run has to leave meanwhile, writes what it waited
     * for.
     */
    private boolean stayWarm(WaitCondition wanted, long nanos, long warm) {
        boolean news = signals.awaitNews(nanos, warm);
        if (news && transitions.isAskedToLeave()) {
            wanted.notes().forEach(transitions::defer);
            wanted.noted();
        }
        return news;
    }

    /** Waits in memory until a body has ended, however long that takes. */
    public void awaitBody() {
        transitions.requireBodies();
        transitions.obeySignals();
        transitions.flush();
        if (transitions.bodiesAtWork()) {
            signals.awaitNews(Clockwork.NEVER, Clockwork.NEVER);
        }
    }

    /** Something happened for which the run's thread may wait. */
    public void wakeUp() {
        signals.wakeUp();
    }

    private static Instant earlier(Instant one, @Nullable Instant other) {
        return other == null || one.isBefore(other) ? one : other;
    }
}
