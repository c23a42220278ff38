package dev.perdure.internal.execution.future;

import dev.perdure.Settled;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.replay.Replay;
import dev.perdure.internal.execution.transition.Transitions;
import dev.perdure.internal.execution.transition.WaitCondition;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Recorded;
import java.time.Duration;
import java.time.Instant;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A timer. It begins with the transition that records it, by the store's clock. */
final class TimerFuture extends EngineFuture<@Nullable Void> {
    private final Duration duration;
    private final Supplier<Instant> time;
    private final BooleanSupplier passed;
    private @Nullable Instant begun;

    /**
     * A timer.
     *
     * @param time the time up to which the code may see what has happened
     * @param passed whether the code has passed the current await before: then the timer had ended, whatever this
     *     worker's clock says
     */
    TimerFuture(Futures futures, Duration duration, Supplier<Instant> time, BooleanSupplier passed) {
        super(futures);
        this.duration = duration;
        this.time = time;
        this.passed = passed;
    }

    void begin(ContextCall call, Replay.Past past, Transitions transitions) {
        Recorded beginning = past.notes().stream().findFirst().orElse(null);
        if (beginning == null) {
            transitions.defer(call.note(1, Entry.Status.BEGUN, Payload.EMPTY), at -> begun = at);
        } else {
            begun = beginning.at();
        }
    }

    @Override
    protected @Nullable Settled<@Nullable Void> look() {
        boolean over = duration.isNegative()
                || duration.isZero()
                || (begun != null && (!time.get().isBefore(begun.plus(duration)) || passed.getAsBoolean()));
        return over ? value(null) : null;
    }

    @Override
    protected void wants(WaitCondition wanted) {
        if (begun == null) {
            wanted.delay(duration);
        } else {
            wanted.time(begun.plus(duration));
        }
    }
}
