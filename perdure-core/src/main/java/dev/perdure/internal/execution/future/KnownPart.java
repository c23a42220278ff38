package dev.perdure.internal.execution.future;

import dev.perdure.Settled;
import dev.perdure.internal.execution.transition.WaitCondition;
import dev.perdure.internal.join.KnownFuture;
import org.jspecify.annotations.Nullable;

/** A known future that is joined with futures of a run. */
final class KnownPart<T extends @Nullable Object> extends EngineFuture<T> {
    private final Settled<T> settled;

    KnownPart(Futures futures, KnownFuture<T> known) {
        super(futures);
        this.settled = known.settled();
    }

    @Override
    protected Settled<T> look() {
        return settled;
    }

    @Override
    protected void wants(WaitCondition wanted) {} // It has settled.
}
