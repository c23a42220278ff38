package dev.perdure.conformance.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.spi.payload.PayloadReference;
import dev.perdure.spi.payload.PayloadStore;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What every payload store does, whatever it is made of. */
public interface PayloadStoreCases {
    /** An hour, which does not pass in a test that does not move the time. */
    Duration HOUR = Duration.ofHours(1);

    /** The store under test, without any payloads in it. */
    PayloadStore payloads();

    /** A payload of this many bytes. */
    static byte[] content(int size, int seed) {
        byte[] content = new byte[size];
        for (int i = 0; i < size; i++) {
            content[i] = (byte) (31 * i + seed + i / 251);
        }
        return content;
    }

    /** The reference to this payload. */
    static PayloadReference referenceTo(byte[] content) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(content);
            return new PayloadReference(HexFormat.of().formatHex(hash), content.length);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    /** Writes the chunks of a payload. */
    static UUID write(PayloadStore payloads, byte[] content) {
        UUID upload = UUID.randomUUID();
        for (int number = 0; number * PayloadStore.CHUNK_BYTES < content.length; number++) {
            int from = number * PayloadStore.CHUNK_BYTES;
            int to = Math.min(content.length, from + PayloadStore.CHUNK_BYTES);
            payloads.write(upload, number, Arrays.copyOfRange(content, from, to));
        }
        return upload;
    }

    /** Writes a payload. */
    static PayloadReference put(PayloadStore payloads, byte[] content) {
        UUID upload = write(payloads, content);
        PayloadReference reference = referenceTo(content);
        assertThat(payloads.finish(upload, reference)).isTrue();
        return reference;
    }

    @Test
    default void gives_back_what_was_written_chunk_by_chunk() {
        byte[] content = content(2 * PayloadStore.CHUNK_BYTES + 17, 1);
        PayloadReference reference = put(payloads(), content);
        assertThat(payloads().read(reference, 0)).hasValue(Arrays.copyOfRange(content, 0, PayloadStore.CHUNK_BYTES));
        assertThat(payloads().read(reference, 2))
                .hasValue(Arrays.copyOfRange(content, 2 * PayloadStore.CHUNK_BYTES, content.length));
        assertThat(payloads().read(reference, 3)).isEmpty();
    }

    @Test
    default void a_payload_of_whole_chunks_has_no_empty_one() {
        PayloadReference reference = put(payloads(), content(2 * PayloadStore.CHUNK_BYTES, 1));
        assertThat(reference.chunks()).isEqualTo(2);
        assertThat(payloads().read(reference, 1)).isPresent();
        assertThat(payloads().read(reference, 2)).isEmpty();
    }

    @Test
    default void requests_that_are_repeated_change_nothing() {
        byte[] content = content(PayloadStore.CHUNK_BYTES + 1, 1);
        UUID upload = write(payloads(), content);
        payloads().write(upload, 0, Arrays.copyOf(content, PayloadStore.CHUNK_BYTES));
        PayloadReference reference = referenceTo(content);
        assertThat(payloads().finish(upload, reference)).isTrue();
        assertThat(payloads().finish(upload, reference)).isTrue();
        payloads().discard(upload);
        assertThat(payloads().read(reference, 1)).hasValue(new byte[] {content[PayloadStore.CHUNK_BYTES]});
        assertThat(payloads().list(null, 10)).containsExactly(reference);
    }

    @Test
    default void equal_payloads_are_one() {
        byte[] content = content(100, 1);
        PayloadReference first = put(payloads(), content);
        assertThat(put(payloads(), content)).isEqualTo(first);
        assertThat(payloads().list(null, 10)).containsExactly(first);
        assertThat(payloads().removeUploads(Duration.ZERO)).isZero();
        assertThat(payloads().read(first, 0)).hasValue(content);
    }

    @Test
    default void an_upload_without_a_name_is_no_payload_and_is_removed_by_its_age() {
        byte[] content = content(PayloadStore.CHUNK_BYTES + 1, 1);
        UUID upload = write(payloads(), content);
        PayloadReference reference = referenceTo(content);
        assertThat(payloads().keep(reference)).isFalse();
        assertThat(payloads().read(reference, 0)).isEmpty();
        assertThat(payloads().list(null, 10)).isEmpty();
        assertThat(payloads().removeUploads(HOUR)).isZero();
        assertThat(payloads().removeUploads(Duration.ZERO)).isOne();
        assertThat(payloads().finish(upload, reference))
                .as("its chunks are gone")
                .isFalse();
        assertThat(payloads().list(null, 10)).isEmpty();
    }

    @Test
    default void an_upload_that_was_discarded_leaves_nothing() {
        UUID upload = write(payloads(), content(100, 1));
        payloads().discard(upload);
        payloads().discard(upload);
        assertThat(payloads().removeUploads(Duration.ZERO)).isZero();
    }

    @Test
    default void an_upload_without_all_its_chunks_gets_no_name() {
        byte[] content = content(3 * PayloadStore.CHUNK_BYTES, 1);
        UUID upload = write(payloads(), Arrays.copyOf(content, 2 * PayloadStore.CHUNK_BYTES));
        assertThat(payloads().finish(upload, referenceTo(content))).isFalse();
    }

    @Test
    default void an_upload_whose_first_chunks_were_removed_gets_no_name() {
        byte[] content = content(3 * PayloadStore.CHUNK_BYTES, 1);
        UUID upload = write(payloads(), Arrays.copyOf(content, 2 * PayloadStore.CHUNK_BYTES));
        assertThat(payloads().removeUploads(Duration.ZERO)).isOne();
        payloads().write(upload, 2, Arrays.copyOfRange(content, 2 * PayloadStore.CHUNK_BYTES, content.length));
        assertThat(payloads().finish(upload, referenceTo(content))).isFalse();
        assertThat(payloads().list(null, 10)).isEmpty();
    }

    @Test
    default void lists_payloads_in_pages() {
        List<PayloadReference> all = IntStream.range(0, 5)
                .mapToObj(seed -> put(payloads(), content(100, seed)))
                .sorted(Comparator.comparing(PayloadReference::hash))
                .toList();
        assertThat(payloads().list(null, 3)).isEqualTo(all.subList(0, 3));
        assertThat(payloads().list(all.get(2), 3)).isEqualTo(all.subList(3, 5));
        assertThat(payloads().list(all.get(4), 3)).isEmpty();
    }

    /**
     * Keeps each of these payloads, whose hour is over, at the moment at which another process removes it.
     *
     * @param other the payload store as that process has it
     */
    static void keepWhileRemoving(PayloadStore payloads, PayloadStore other, List<PayloadReference> released)
            throws Exception {
        CyclicBarrier together = new CyclicBarrier(2);
        try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
            Future<?> removal = threads.submit(() -> {
                for (PayloadReference each : released) {
                    together.await();
                    int unused = other.remove(List.of(each), List.of(), HOUR);
                }
                return null;
            });
            List<PayloadReference> kept = new ArrayList<>();
            for (PayloadReference each : released) {
                together.await();
                if (payloads.keep(each)) {
                    kept.add(each);
                }
            }
            removal.get();
            assertThat(kept)
                    .allSatisfy(each -> assertThat(payloads.read(each, 0)).isPresent());
        }
    }

    @Test
    default void removes_a_payload_to_which_nothing_has_referred_for_a_while() {
        PayloadReference reference = put(payloads(), content(100, 1));
        PayloadReference other = put(payloads(), content(100, 2));
        assertThat(payloads().remove(List.of(reference), List.of(other), HOUR)).isZero();
        assertThat(payloads().list(null, 10)).hasSize(2);
        assertThat(payloads().remove(List.of(reference), List.of(other), Duration.ZERO))
                .isOne();
        assertThat(payloads().list(null, 10)).containsExactly(other);
        assertThat(payloads().read(reference, 0)).isEmpty();
        assertThat(payloads().keep(reference)).isFalse();
        assertThat(put(payloads(), content(100, 1))).isEqualTo(reference);
        assertThat(payloads().read(reference, 0)).isPresent();
    }
}
