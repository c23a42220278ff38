package dev.perdure.testing.scenarios;

import dev.perdure.error.StoreException;
import dev.perdure.spi.payload.PayloadReference;
import dev.perdure.spi.payload.PayloadStore;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A payload store that can be out of reach, forget a payload, and tells what it has. */
final class WatchedPayloads implements PayloadStore {
    private final PayloadStore payloads;
    private final AtomicInteger refusals = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicInteger writes = new AtomicInteger();
    private volatile boolean forgetful;

    WatchedPayloads(PayloadStore payloads) {
        this.payloads = payloads;
    }

    /** Refuses so many requests from now on. */
    void refuse(int count) {
        refusals.set(count);
    }

    /** From now on, no payload is there any more. */
    void forget(boolean forgets) {
        forgetful = forgets;
    }

    /** How many requests it has refused. */
    int refused() {
        return refused.get();
    }

    /** How many chunks were written. */
    int writes() {
        return writes.get();
    }

    List<PayloadReference> all() {
        return payloads.list(null, 1_000);
    }

    private PayloadStore reached() {
        if (refusals.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            refused.incrementAndGet();
            throw new StoreException(StoreException.Kind.UNAVAILABLE, "The payloads are out of reach.", null);
        }
        return payloads;
    }

    @Override
    public void write(UUID upload, int number, byte[] chunk) {
        reached().write(upload, number, chunk);
        writes.incrementAndGet();
    }

    @Override
    public boolean finish(UUID upload, PayloadReference reference) {
        return reached().finish(upload, reference);
    }

    @Override
    public void discard(UUID upload) {
        reached().discard(upload);
    }

    @Override
    public boolean keep(PayloadReference reference) {
        return reached().keep(reference);
    }

    @Override
    public Optional<byte[]> read(PayloadReference reference, int number) {
        return forgetful ? Optional.empty() : reached().read(reference, number);
    }

    @Override
    public List<PayloadReference> list(@Nullable PayloadReference after, int limit) {
        return reached().list(after, limit);
    }

    @Override
    public int remove(Collection<PayloadReference> unreferred, Collection<PayloadReference> referred, Duration after) {
        return reached().remove(unreferred, referred, after);
    }

    @Override
    public int removeUploads(Duration after) {
        return reached().removeUploads(after);
    }
}
