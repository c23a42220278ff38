package dev.perdure.internal.payload;

import dev.perdure.error.StoreException;
import dev.perdure.spi.payload.PayloadOutput;
import dev.perdure.spi.payload.PayloadReference;
import dev.perdure.spi.payload.PayloadStore;
import java.util.Arrays;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A large value on its way into the payload store. It has one chunk in memory.
 *
 * <p>Crash points. Before {@link #finish}: the store has chunks of an upload that has no name, and retention removes
 * them. After it, and before the commit that refers to the payload: no row refers to it, and retention removes it.
 */
final class Upload extends PayloadOutput {
    private final PayloadStore store;
    private final Supplier<UUID> ids;
    private final byte[] chunk = new byte[PayloadStore.CHUNK_BYTES];
    private UUID id;
    private ContentHash hash = new ContentHash();
    private int filled;
    private int chunks;
    private @Nullable RuntimeException failure;

    Upload(PayloadStore store, Supplier<UUID> ids) {
        this.store = store;
        this.ids = ids;
        this.id = ids.get();
    }

    @Override
    public void write(byte[] bytes, int from, int length) {
        hash.add(bytes, from, length);
        int at = from;
        while (at < from + length) {
            int part = Math.min(from + length - at, chunk.length - filled);
            System.arraycopy(bytes, at, chunk, filled, part);
            filled += part;
            at += part;
            if (filled == chunk.length) {
                send();
            }
        }
    }

    private void send() {
        try {
            store.write(id, chunks, Arrays.copyOf(chunk, filled));
        } catch (RuntimeException trouble) {
            failure = trouble;
            throw trouble;
        }
        chunks++;
        filled = 0;
    }

    @Override
    public void restart() {
        if (chunks > 0) {
            discard();
        }
        id = ids.get();
        hash = new ContentHash();
        filled = 0;
        chunks = 0;
    }

    /** Names the upload; empty if it took so long that its chunks were removed. */
    Optional<PayloadReference> finish() {
        if (filled > 0) {
            send();
        }
        PayloadReference reference = hash.reference();
        return store.finish(id, reference) ? Optional.of(reference) : Optional.empty();
    }

    /** Drops what was written, if the store is in reach: otherwise retention does. */
    void discard() {
        try {
            store.discard(id);
        } catch (StoreException outOfReach) {
            // Its chunks have no name, so retention removes them.
        }
    }

    /** What the payload store threw. A codec may have wrapped it. */
    Optional<RuntimeException> failure() {
        return Optional.ofNullable(failure);
    }
}
