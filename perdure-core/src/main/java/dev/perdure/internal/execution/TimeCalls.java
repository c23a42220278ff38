package dev.perdure.internal.execution;

import dev.perdure.RunState;
import dev.perdure.error.PayloadException;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.replay.Replay;
import dev.perdure.internal.execution.transition.ContextCalls;
import dev.perdure.internal.execution.transition.Transitions;
import dev.perdure.internal.execution.transition.Waits;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Recorded;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** Sleeps and the current time, by the store's clock and the same on every replay. */
record TimeCalls(Host host, ContextCalls calls, Transitions transitions, Waits waits, Values values) {
    void sleep(Duration duration) {
        ContextCalls.requireStorable("sleep", duration);
        ContextCall call = calls.take("sleep", Entry.Kind.SLEEP, duration.toString());
        Replay.Past past = calls.rethrowDelivered(call);
        Optional<Recorded> begun = past.notes().stream().findFirst();
        Instant due;
        if (begun.isPresent()) {
            if (calls.replaying()) {
                return; // The run passed here before, whatever this worker's clock says.
            }
            due = begun.get().at().plus(duration);
        } else {
            transitions.deliverTo(call);
            Entry beginning = call.note(1, Entry.Status.BEGUN, Payload.EMPTY);
            if (duration.isNegative() || duration.isZero()) {
                transitions.defer(beginning);
                return;
            }
            due = waits.begin(beginning, duration, RunState.SUSPENDED);
        }
        waits.await(call, due, RunState.SUSPENDED);
    }

    Instant now() {
        ContextCall call = calls.take("now", Entry.Kind.NOW, "");
        Optional<Recorded> answer = calls.rethrowDelivered(call).answer();
        if (answer.isPresent()) {
            try {
                return values.at(call.position()).decode(answer.get().entry().payload(), Instant.class);
            } catch (PayloadException unreadable) {
                throw transitions.unreadable(call, unreadable);
            }
        }
        transitions.deliverTo(call);
        Instant now = host.clock().now();
        transitions.defer(
                call.answer(Entry.Status.VALUE, values.at(call.position()).encode(now)));
        return now;
    }
}
