package dev.perdure.internal.payload;

import dev.perdure.error.MissingPayloadException;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadReference;
import dev.perdure.spi.payload.PayloadStore;
import java.io.InputStream;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads a large value from the payload store, one chunk at a time. It gives out the last chunk only if the whole is what
 * was written.
 */
final class Download extends InputStream {
    private final PayloadStore store;
    private final PayloadReference reference;
    private final ContentHash hash = new ContentHash();
    private byte[] chunk = Payload.EMPTY.bytes();
    private int at;
    private int next;
    private @Nullable RuntimeException failure;

    Download(PayloadStore store, PayloadReference reference) {
        this.store = store;
        this.reference = reference;
    }

    @Override
    public int read() {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int from, int length) {
        Objects.checkFromIndexSize(from, length, target.length);
        if (length == 0) {
            return 0;
        }
        if (at == chunk.length && !fetch()) {
            return -1;
        }
        int part = Math.min(length, chunk.length - at);
        System.arraycopy(chunk, at, target, from, part);
        at += part;
        return part;
    }

    /** Whether there is another chunk. */
    private boolean fetch() {
        if (next == reference.chunks()) {
            return false;
        }
        try {
            chunk = Payload.EMPTY.bytes();
            chunk = store.read(reference, next).orElseThrow(() -> missing("is not in the payload store"));
            hash.add(chunk, 0, chunk.length);
            next++;
            if (next == reference.chunks() && !hash.reference().equals(reference)) {
                throw missing("is not in the payload store as it was written");
            }
        } catch (RuntimeException trouble) {
            failure = trouble;
            throw trouble;
        }
        at = 0;
        return true;
    }

    private MissingPayloadException missing(String what) {
        return new MissingPayloadException(
                "The payload %s of %s bytes %s. Restore it, or use the payload store to which it was written."
                        .formatted(reference.hash(), reference.size(), what));
    }

    /** What the payload store threw, or what is wrong with the payload. A codec may have wrapped it. */
    Optional<RuntimeException> failure() {
        return Optional.ofNullable(failure);
    }
}
