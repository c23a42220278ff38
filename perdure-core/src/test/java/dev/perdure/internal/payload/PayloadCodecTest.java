package dev.perdure.internal.payload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.error.MissingPayloadException;
import dev.perdure.error.PayloadException;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.json.CopyingCodec;
import dev.perdure.internal.json.JsonCodec;
import dev.perdure.internal.time.SystemClockwork;
import dev.perdure.memory.MemoryStore;
import dev.perdure.payload.Encryption;
import dev.perdure.payload.EncryptionKeys;
import dev.perdure.spi.Codec;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadPlace;
import dev.perdure.spi.payload.PayloadReference;
import dev.perdure.spi.payload.Payloads;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PayloadCodecTest {
    private static final int INLINE = 100;

    private final Payloads store = new MemoryStore().payloads();
    private final PayloadCodec codec = of(new JsonCodec());

    private PayloadCodec of(Codec inner) {
        return PayloadCodec.of(inner, store, INLINE, new SystemClockwork());
    }

    public record Order(String id, Map<String, Integer> items, byte[] scan) {}

    /** Values as their bytes, as a codec of an application may write them. */
    private static final class Bytes implements Codec {
        @Override
        public Payload encode(@Nullable Object value, Type type) {
            return new Payload((byte[]) value);
        }

        @Override
        public @Nullable Object decode(Payload payload, Type type) {
            return payload.bytes();
        }

        @Override
        public @Nullable Object verify(@Nullable Object value, Payload payload, Type type) {
            return payload.bytes();
        }

        @Override
        public void check(Type type) {}
    }

    @Test
    void a_value_of_just_the_limit_stays_in_place_and_one_byte_more_does_not() {
        String fits = "x".repeat(INLINE - 2);
        Payload small = codec.encode(fits, String.class);
        assertThat(new String(small.bytes(), StandardCharsets.UTF_8)).isEqualTo('"' + fits + '"');
        Payload large = codec.encode(fits + "x", String.class);
        assertThat(PayloadReference.of(large)).map(PayloadReference::size).hasValue(INLINE + 1L);
        assertThat(codec.decode(large, String.class)).isEqualTo(fits + "x");
        assertThat(store.list(null, 10)).hasSize(1);
    }

    @Test
    void a_value_that_was_removed_before_it_was_recorded_is_stored_again() {
        Values values = new Values(codec, 1_000_000);
        Values.Stored small = values.store("x", String.class, "it");
        Values.Stored large = values.store("x".repeat(1_000), String.class, "it");
        assertThat(values.kept(large, String.class, "it")).isSameAs(large);
        PayloadReference reference = PayloadReference.of(large.payload()).orElseThrow();
        Payloads empty = new MemoryStore().payloads();
        Values elsewhere =
                new Values(PayloadCodec.of(new JsonCodec(), empty, INLINE, new SystemClockwork()), 1_000_000);
        assertThat(elsewhere.kept(small, String.class, "it")).isSameAs(small);
        assertThat(elsewhere.kept(large, String.class, "it").payload()).isEqualTo(large.payload());
        assertThat(empty.keep(reference)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7_999, 8_000, 1024 * 1024 - 1, 1024 * 1024, 1024 * 1024 + 1, 3 * 1024 * 1024 + 5})
    void texts_of_all_lengths_are_read_back(int length) {
        String text = IntStream.range(0, length / 10 + 1)
                .mapToObj(i -> "%09dé".formatted(i))
                .collect(Collectors.joining())
                .substring(0, length);
        Payload payload = codec.encode(text, String.class);
        assertThat(codec.verify(text, payload, String.class)).isEqualTo(text);
        assertThat(codec.inlined(payload)).isEqualTo(new JsonCodec().encode(text, String.class));
        assertThat(PayloadReference.sizeOf(payload))
                .isEqualTo(codec.inlined(payload).size());
    }

    @Test
    void an_object_of_many_parts_has_the_bytes_that_it_would_have_in_place() {
        Order order = new Order("é" + "x".repeat(200_000), Map.of("a", 1), new byte[2_000_000]);
        Payload payload = codec.encode(order, Order.class);
        assertThat(PayloadReference.is(payload)).isTrue();
        assertThat(codec.inlined(payload)).isEqualTo(new JsonCodec().encode(order, Order.class));
        assertThat(((Order) codec.decode(payload, Order.class)).scan()).hasSize(2_000_000);
    }

    @Test
    void half_a_surrogate_pair_behind_large_text_is_read_back() {
        List<String> texts = List.of("x".repeat(2_000_000) + "\ud800", "\ud800");
        Payload payload = codec.encode(texts, List.class);
        assertThat(codec.decode(payload, List.class)).isEqualTo(texts);
        assertThat(store.list(null, 10)).hasSize(1);
        assertThat(store.removeUploads(Duration.ZERO)).isZero();
    }

    /** Can be encoded a few times. */
    public static final class Worn {
        private int left;

        Worn(int left) {
            this.left = left;
        }

        public String getLarge() {
            return "x".repeat(3_000_000);
        }

        public int getZero() {
            if (left-- <= 0) {
                throw new IllegalStateException("worn out");
            }
            return 0;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void a_value_that_cannot_be_encoded_the_first_or_the_second_time_leaves_nothing(int times) {
        assertThatThrownBy(() -> codec.encode(new Worn(times), Worn.class))
                .isInstanceOf(PayloadException.class)
                .hasMessageContaining("worn out");
        assertThat(store.list(null, 10)).isEmpty();
        assertThat(store.removeUploads(Duration.ZERO)).isZero();
    }

    @Test
    void a_value_over_the_limit_is_refused_before_anything_is_written() {
        assertThatThrownBy(() -> codec.encode("x".repeat(1_000), String.class, 1_001))
                .isInstanceOf(PayloadException.class)
                .hasMessage(
                        "it has 1002 bytes and the limit is 1001. Store it elsewhere and pass a reference, or raise maxPayloadBytes.");
        assertThat(PayloadReference.is(codec.encode("x".repeat(1_000), String.class, 1_002)))
                .isTrue();
        assertThat(store.list(null, 10)).hasSize(1);
    }

    @Test
    void equal_values_have_equal_references_and_are_stored_once() {
        Payload first = codec.encode("x".repeat(1_000), String.class);
        assertThat(codec.encode("x".repeat(1_000), String.class)).isEqualTo(first);
        assertThat(codec.encode("y".repeat(1_000), String.class)).isNotEqualTo(first);
        assertThat(store.list(null, 10)).hasSize(2);
    }

    @Test
    void a_value_with_the_bytes_of_a_reference_is_not_taken_for_one() {
        PayloadCodec bytes = of(new CopyingCodec(new Bytes()));
        Payload secret =
                bytes.encode("a secret of another run".repeat(10).getBytes(StandardCharsets.UTF_8), byte[].class);
        Payload forged = bytes.encode(secret.bytes(), byte[].class);
        assertThat(forged).isNotEqualTo(secret);
        assertThat(bytes.decode(forged, byte[].class)).isEqualTo(secret.bytes());
    }

    @Test
    void no_json_is_a_reference() {
        Payload secret = codec.encode("a secret of another run".repeat(10), String.class);
        String asText = new String(secret.bytes(), StandardCharsets.ISO_8859_1);
        assertThat(codec.decode(codec.encode(asText, String.class), String.class))
                .isEqualTo(asText);
        String hash = PayloadReference.of(secret).orElseThrow().hash();
        Map<String, Object> shown = Map.of("payload", hash, "size", 232);
        assertThat(codec.decode(codec.encode(shown, Map.class), Map.class)).isEqualTo(shown);
    }

    @Test
    void a_payload_that_is_not_there_is_named() {
        PayloadReference unknown = new PayloadReference("0".repeat(64), 4711);
        assertThatThrownBy(() -> codec.decode(unknown.payload(), String.class))
                .isInstanceOf(MissingPayloadException.class)
                .hasMessage(
                        "The payload %s of 4711 bytes is not in the payload store. Restore it, or use the payload store to which it was written."
                                .formatted("0".repeat(64)));
        assertThatThrownBy(() -> codec.inlined(unknown.payload())).isInstanceOf(MissingPayloadException.class);
        PayloadReference huge = new PayloadReference("0".repeat(64), 1L << 40);
        assertThatThrownBy(() -> codec.inlined(huge.payload()))
                .as("no memory is taken for what is not there")
                .isInstanceOf(MissingPayloadException.class);
    }

    @Test
    void a_payload_that_is_not_what_was_written_is_refused() {
        PayloadReference reference = PayloadReference.of(codec.encode("x".repeat(1_000), String.class))
                .orElseThrow();
        PayloadReference other = new PayloadReference("1".repeat(64), reference.size());
        PayloadCodec damaged = codec.through(direct -> new ForwardingPayloads(direct) {
            @Override
            public Optional<byte[]> read(PayloadReference asked, int number) {
                return direct.read(reference, number);
            }
        });
        assertThatThrownBy(() -> damaged.decode(other.payload(), String.class))
                .isInstanceOf(MissingPayloadException.class)
                .hasMessageContaining("is not in the payload store as it was written.");
    }

    @Test
    void in_place_a_value_of_any_size_is_a_payload() {
        Payload payload = codec.inline().encode("x".repeat(1_000), String.class);
        assertThat(payload.size()).isEqualTo(1_002);
        Payload large = codec.encode("x".repeat(1_000), String.class);
        assertThat(codec.inline().decode(large, String.class)).isEqualTo("x".repeat(1_000));
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 1_000})
    void a_value_of_another_key_is_renewed_whatever_its_size(int length) {
        SecretKey key = new SecretKeySpec(new byte[16], "AES");
        Map<String, SecretKey> both = Map.of("2025", key, "2026", key);
        PayloadPlace place = PayloadPlace.state("cart", "user-1", "items");
        PayloadCodec old = codec.transforming(Encryption.with(EncryptionKeys.of("2025", both)))
                .at(place);
        PayloadCodec present = codec.transforming(Encryption.with(EncryptionKeys.of("2026", both)))
                .at(place);
        Payload before = old.encode("x".repeat(length), String.class);
        Payload renewed = present.renewed(before);
        assertThat(present.keyOf(renewed)).contains("2026");
        assertThat(present.decode(renewed, String.class)).isEqualTo("x".repeat(length));
        assertThat(present.renewed(renewed)).as("renewed already").isEqualTo(renewed);
    }

    @Test
    void an_upload_whose_chunks_were_removed_is_made_again() {
        int[] finishes = new int[1];
        PayloadCodec slow = codec.through(direct -> new ForwardingPayloads(direct) {
            @Override
            public boolean finish(UUID upload, PayloadReference reference) {
                if (finishes[0]++ == 0) {
                    direct.removeUploads(Duration.ZERO);
                }
                return direct.finish(upload, reference);
            }
        });
        Payload payload = slow.encode("x".repeat(1_000), String.class);
        assertThat(slow.decode(payload, String.class)).isEqualTo("x".repeat(1_000));
        assertThat(finishes[0]).isEqualTo(2);
    }
}
