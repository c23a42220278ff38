package dev.perdure.spi.payload;

import dev.perdure.error.StoreException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Keeps large payloads, in chunks. A payload is written before the commit that refers to it, and removed some time after
 * the last row that refers to it is gone.
 *
 * <p>How it works. The engine writes the chunks under an upload of its own, because it knows the hash of a payload only
 * when it has seen all of it. {@link #finish} names the upload. Every method may be repeated with the same arguments.
 * Rows may be copied and removed at any time, so nothing counts references: from time to time a worker asks the
 * {@link Payloads} of the runs to which of the payloads a row refers, and {@link #remove} removes those that no row has
 * referred to for a while. A worker or a caller has that long to commit a reference.
 *
 * <p>Thread-safe. Methods throw {@link StoreException} if the payloads are out of reach, and runs then wait.
 */
public interface PayloadStore {
    /** How many bytes a chunk has; the last one has the rest. */
    int CHUNK_BYTES = 1024 * 1024;

    /**
     * Writes a chunk, and returns when it is durable.
     *
     * @param upload a random id, which only one value has
     * @param number from 0
     */
    void write(UUID upload, int number, byte[] chunk);

    /**
     * Makes an upload known under its reference, and returns when that is durable. If the payload is there already, it
     * drops the upload and {@linkplain #keep keeps} the payload.
     *
     * @return false if chunks of the upload are missing and the payload is not there: it took so long that they were
     *     removed
     */
    boolean finish(UUID upload, PayloadReference reference);

    /** Drops an upload that is not finished. */
    void discard(UUID upload);

    /** Whether a payload is there. If so, it counts as referred to for now. */
    boolean keep(PayloadReference reference);

    /** Reads a chunk; empty if it is not there. */
    Optional<byte[]> read(PayloadReference reference, int number);

    /**
     * The next payloads that are there, in the order of their hashes.
     *
     * @param after where to go on, or null for the first
     */
    List<PayloadReference> list(@Nullable PayloadReference after, int limit);

    /**
     * Removes payloads to which no row has referred for a while. It notes since when that is so, and forgets it for
     * those that are referred to.
     *
     * @param unreferred payloads to which no row refers now
     * @param referred payloads to which rows refer now
     * @param after how long no row must have referred to a payload
     * @return how many payloads it has removed
     */
    int remove(Collection<PayloadReference> unreferred, Collection<PayloadReference> referred, Duration after);

    /** Removes uploads that began longer ago than this and were not finished. Returns how many. */
    int removeUploads(Duration after);
}
