package dev.perdure.internal.join;

import dev.perdure.DurableFuture;
import dev.perdure.Settled;
import dev.perdure.internal.text.Texts;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A future that waits for nothing, such as all of no futures. It belongs to no run, and nothing of it is recorded: every
 * replay has the same value.
 *
 * @param <T> the type of its value
 */
public final class KnownFuture<T extends @Nullable Object> implements DurableFuture<T> {
    private final Supplier<T> value;

    KnownFuture(Supplier<T> value) {
        this.value = value;
    }

    /** How it has settled. */
    public Settled<T> settled() {
        try {
            return new Settled<>(value.get(), null);
        } catch (RuntimeException thrown) { // by a function that was given to map
            return new Settled<>(null, thrown);
        }
    }

    @Override
    public T await() {
        return value.get();
    }

    @Override
    public Optional<T> await(Duration limit) {
        Texts.requireGiven("limit", limit);
        return Optional.ofNullable(value.get());
    }

    @Override
    public <R extends @Nullable Object> DurableFuture<R> map(Function<? super T, ? extends R> function) {
        Texts.requireGiven("function", function);
        return new KnownFuture<R>(() -> function.apply(value.get()));
    }

    @Override
    public DurableFuture<T> orTimeout(Duration limit) {
        Texts.requireGiven("limit", limit);
        return this;
    }
}
