package dev.perdure.internal.execution.future;

import dev.perdure.DurableFuture;
import dev.perdure.Settled;
import dev.perdure.internal.execution.transition.WaitCondition;
import dev.perdure.internal.join.Joinable;
import dev.perdure.internal.join.Joins;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A durable future. It does nothing by itself. When the run's thread awaits it, the thread checks whether it has
 * settled, and otherwise asks it what it waits for.
 */
public abstract class EngineFuture<T extends @Nullable Object> implements DurableFuture<T>, Joinable {
    private final Futures futures;

    public EngineFuture(Futures futures) {
        this.futures = futures;
    }

    /**
     * How it has settled, or null. Once it has settled, it stays so. Its value is on disk, or is written with the next
     * transition, before any body starts.
     */
    protected abstract @Nullable Settled<T> look();

    @Override
    public final Joins joins() {
        return futures;
    }

    /** Whether these futures made it. */
    boolean isOf(Futures those) {
        return futures == those;
    }

    /** What it waits for. Called only while it is open. */
    protected abstract void wants(WaitCondition wanted);

    /** Describes it, at the beginning of a sentence that says that it did not arrive. */
    protected String awaited() {
        return "The awaited value";
    }

    /** Whether exactly one mail settles it, and nothing else. */
    protected boolean isOneAnswer() {
        return false;
    }

    @Override
    public final T await() {
        return futures.await(this);
    }

    @Override
    public final Optional<T> await(Duration limit) {
        return futures.within(this, limit).await();
    }

    @Override
    public final <R extends @Nullable Object> DurableFuture<R> map(Function<? super T, ? extends R> function) {
        return new Mapped<>(futures, this, function);
    }

    @Override
    public final DurableFuture<T> orTimeout(Duration limit) {
        return futures.orTimeout(this, limit);
    }

    public static <T extends @Nullable Object> Settled<T> value(T value) {
        return new Settled<>(value, null);
    }

    public static <T extends @Nullable Object> Settled<T> failure(RuntimeException failure) {
        return new Settled<>(null, failure);
    }

    /** The result of a pure function on another future. Leaves no entry. */
    private static final class Mapped<S extends @Nullable Object, R extends @Nullable Object> extends EngineFuture<R> {
        private final EngineFuture<S> source;
        private final Function<? super S, ? extends R> function;
        private @Nullable Settled<R> settled;

        Mapped(Futures futures, EngineFuture<S> source, Function<? super S, ? extends R> function) {
            super(futures);
            this.source = source;
            this.function = function;
        }

        @Override
        protected @Nullable Settled<R> look() {
            Settled<S> from = settled == null ? source.look() : null;
            if (from != null) {
                settled = apply(from);
            }
            return settled;
        }

        @SuppressWarnings("NullAway") // a value is null only where S allows it
        private Settled<R> apply(Settled<S> from) {
            if (from.failure() != null) {
                return failure(from.failure());
            }
            try {
                return value(function.apply(from.value()));
            } catch (RuntimeException thrown) {
                return failure(thrown);
            }
        }

        @Override
        protected void wants(WaitCondition wanted) {
            source.wants(wanted);
        }

        @Override
        protected String awaited() {
            return source.awaited();
        }

        @Override
        protected boolean isOneAnswer() {
            return source.isOneAnswer();
        }
    }
}
