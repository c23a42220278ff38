package dev.perdure.payload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.RunId;
import dev.perdure.error.DecryptionException;
import dev.perdure.error.DecryptionException.Reason;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.spi.ReactionStart;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.payload.EncryptedPayload;
import dev.perdure.spi.payload.PayloadPlace;
import dev.perdure.spi.payload.PayloadReference;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class EncryptionTest {
    private static final SecretKey OLD = key(1, 32);
    private static final SecretKey NEW = key(2, 16);
    private static final RunId RUN = RunId.of("order-42");
    private static final PayloadPlace PLACE = PayloadPlace.entry(RUN, 3);
    private static final Payload VALUE = bytes("{\"card\":\"4711\"}");

    private final Encryption encryption = Encryption.with(EncryptionKeys.of("2025", Map.of("2025", OLD)));
    private final Encryption rotated = Encryption.with(EncryptionKeys.of("2026", Map.of("2025", OLD, "2026", NEW)));

    private static SecretKey key(int filler, int length) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) filler);
        return new SecretKeySpec(bytes, "AES");
    }

    private static Payload bytes(String text) {
        return new Payload(text.getBytes(StandardCharsets.UTF_8));
    }

    private static void assertRefused(Encryption reader, Payload stored, PayloadPlace place, Reason reason) {
        assertThatThrownBy(() -> reader.undo(stored, place))
                .isInstanceOfSatisfying(
                        DecryptionException.class,
                        refused -> assertThat(refused.reason()).isEqualTo(reason))
                .hasMessageContaining(place.toString());
    }

    @Test
    void every_value_comes_back_at_its_place_and_never_has_the_same_bytes() {
        Random random = new Random(4711);
        Set<Payload> stored = new HashSet<>();
        for (int size = 0; size < 300; size += 13) {
            byte[] value = new byte[size];
            random.nextBytes(value);
            for (PayloadPlace place : places()) {
                Payload encrypted = encryption.apply(new Payload(value), place);
                assertThat(encryption.undo(encrypted, place).bytes()).isEqualTo(value);
                assertThat(stored.add(encrypted)).isTrue();
            }
        }
    }

    private static List<PayloadPlace> places() {
        return List.of(
                PLACE,
                PayloadPlace.entry(RUN, 4),
                PayloadPlace.entry(RunId.of("order-4"), 23),
                PayloadPlace.entry(RunId.of("order-42 3"), 3),
                PayloadPlace.input(RUN),
                PayloadPlace.debounced(),
                PayloadPlace.result(RUN),
                PayloadPlace.message(RUN, "3"),
                PayloadPlace.promise(RUN, "3"),
                PayloadPlace.answer(RUN, 3),
                PayloadPlace.event("order-42"),
                PayloadPlace.published(RUN, "3"),
                PayloadPlace.state("order", "42", "3"),
                PayloadPlace.state("order/42", "3", ""));
    }

    @Test
    void a_value_is_read_at_no_other_place() {
        for (PayloadPlace made : places()) {
            Payload stored = encryption.apply(VALUE, made);
            for (PayloadPlace found : places()) {
                if (!found.equals(made)) {
                    assertRefused(encryption, stored, found, Reason.MOVED);
                }
            }
        }
        assertThatThrownBy(() -> encryption.undo(encryption.apply(VALUE, PLACE), PayloadPlace.entry(RUN, 4)))
                .hasMessage("The value found as position 4 of run 'order-42' was encrypted for another place. "
                        + "Restore the one that belongs there.");
    }

    @Test
    void a_value_is_read_whatever_the_locale_of_the_process_that_wrote_it() {
        Payload stored = encryption.apply(VALUE, PLACE);
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
        try {
            assertThat("%d".formatted(1)).as("this locale has other digits").isNotEqualTo("1");
            assertThat(encryption.undo(stored, PLACE)).isEqualTo(VALUE);
            assertThat(ReactionStart.id("mail", new RunRef(RUN, 7), "1"))
                    .as("two workers start the run of a reaction under one id")
                    .isEqualTo(RunId.of("reaction:mail:order-42#7.1"));
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void a_flipped_bit_anywhere_is_refused() {
        byte[] stored = encryption.apply(VALUE, PLACE).bytes();
        for (int bit = 0; bit < stored.length * Byte.SIZE; bit++) {
            byte[] changed = stored.clone();
            changed[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            assertThatThrownBy(() -> encryption.undo(new Payload(changed), PLACE))
                    .as("bit %d", bit)
                    .isInstanceOf(DecryptionException.class);
        }
    }

    @Test
    void a_value_that_was_cut_or_extended_is_refused() {
        byte[] stored = encryption.apply(VALUE, PLACE).bytes();
        for (int length = 0; length < stored.length; length++) {
            Payload cut = new Payload(Arrays.copyOf(stored, length));
            assertThatThrownBy(() -> encryption.undo(cut, PLACE)).isInstanceOf(DecryptionException.class);
        }
        assertRefused(encryption, new Payload(Arrays.copyOf(stored, stored.length + 1)), PLACE, Reason.CHANGED);
    }

    @Test
    void a_changed_value_is_named_with_its_place_and_what_to_do() {
        byte[] stored = encryption.apply(VALUE, PLACE).bytes();
        stored[stored.length - 1] ^= 1;
        assertThatThrownBy(() -> encryption.undo(new Payload(stored), PLACE))
                .hasMessage("The value for position 3 of run 'order-42' was changed after it was encrypted, or the key "
                        + "'2025' is another one than then. Restore the value or the key.");
    }

    @Test
    void after_a_rotation_old_values_are_read_and_new_ones_have_the_new_key() {
        Payload old = encryption.apply(VALUE, PLACE);
        assertThat(rotated.undo(old, PLACE)).isEqualTo(VALUE);
        Payload anew = rotated.apply(VALUE, PLACE);
        assertThat(EncryptedPayload.of(old)).hasValue(new EncryptedPayload("2025", old.size()));
        assertThat(EncryptedPayload.of(anew)).hasValue(new EncryptedPayload("2026", anew.size()));
        assertRefused(encryption, anew, PLACE, Reason.UNKNOWN_KEY);
        assertThatThrownBy(() -> encryption.undo(anew, PLACE))
                .hasMessage("The value for position 3 of run 'order-42' is encrypted with the key '2026', which this "
                        + "process does not have. Let EncryptionKeys.find(…) return it.");
    }

    @Test
    void another_key_under_the_same_id_reads_nothing() {
        Encryption other = Encryption.with(EncryptionKeys.of("2025", Map.of("2025", NEW)));
        assertRefused(other, encryption.apply(VALUE, PLACE), PLACE, Reason.CHANGED);
    }

    @Test
    void a_plain_value_is_read_only_where_it_comes_from_outside() {
        for (PayloadPlace place : List.of(
                PayloadPlace.input(RUN),
                PayloadPlace.message(RUN, "topic"),
                PayloadPlace.promise(RUN, "promise"),
                PayloadPlace.answer(RUN, 1),
                PayloadPlace.event("event"))) {
            assertThat(encryption.undo(VALUE, place)).isEqualTo(VALUE);
        }
        for (PayloadPlace place : places()) {
            if (!place.comesFromOutside()) {
                assertRefused(encryption, VALUE, place, Reason.NOT_ENCRYPTED);
                assertThat(encryption.readingPlain().undo(VALUE, place)).isEqualTo(VALUE);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\u0001", "\u0001enc", "\u0001enc\u0005ab", "{}"})
    void what_is_no_encrypted_payload_is_not_taken_for_one(String text) {
        assertThat(EncryptedPayload.of(bytes(text))).isEmpty();
    }

    @Test
    void an_encrypted_payload_is_never_a_reference_to_a_large_one() {
        assertThat(PayloadReference.is(encryption.apply(VALUE, PLACE))).isFalse();
    }

    @Test
    void keys_that_cannot_be_used_are_refused() {
        assertThatThrownBy(() -> EncryptionKeys.of("2026", Map.of("2025", OLD)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("The current key '2026' is not among the keys [2025]. Add it, or choose one of them.");
        String tooLong = "k".repeat(101);
        assertThatThrownBy(() -> EncryptionKeys.of("k", Map.of("k", OLD, tooLong, NEW)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "The id of a key has 1 to 100 bytes of UTF-8, and '%s' has 101. Give the key a short name, such as the year.",
                        tooLong);
        Encryption weak = Encryption.with(EncryptionKeys.of("k", Map.of("k", key(1, 5))));
        assertThatThrownBy(() -> weak.apply(VALUE, PLACE))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("The key 'k' cannot be used for AES");
    }

    @Test
    void it_compresses_before_it_encrypts() {
        var both = Compression.over(100).then(encryption);
        assertThatThrownBy(() -> encryption.then(Compression.over(100)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "Compression is to transform values that Encryption has encrypted. These do not get smaller, and the engine could not see their key. "
                                + "Encrypt last, as in Compression.over(4096).then(Encryption.with(keys)).");
        assertThatThrownBy(() -> both.then(Compression.over(100))).isInstanceOf(InvalidRequestException.class);
        Payload text = bytes("tea ".repeat(1000));
        Payload stored = both.apply(text, PLACE);
        assertThat(stored.size()).isLessThan(200);
        assertThat(both.undo(stored, PLACE)).isEqualTo(text);
        assertThat(both.hidesTexts()).isTrue();
        assertThat(Compression.over(100).hidesTexts()).isFalse();
    }
}
