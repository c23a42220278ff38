package dev.perdure.payload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.RunId;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadPlace;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.DeflaterOutputStream;
import org.junit.jupiter.api.Test;

final class CompressionTest {
    private static final PayloadPlace PLACE = PayloadPlace.result(RunId.of("order-42"));
    private static final int MARK = 0x017a_6970;

    private final Compression compression = Compression.over(100);

    private static Payload text(int length) {
        return new Payload("tea ".repeat(length / 4).getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void every_value_comes_back() {
        Random random = new Random(4711);
        for (int size = 0; size < 400; size++) {
            byte[] value = new byte[size];
            random.nextBytes(value);
            Arrays.fill(value, 0, size / 2, (byte) 7);
            Payload stored = compression.apply(new Payload(value), PLACE);
            assertThat(compression.undo(stored, PLACE).bytes()).isEqualTo(value);
            assertThat(stored.size()).isLessThanOrEqualTo(size);
        }
    }

    @Test
    void only_what_is_over_the_threshold_is_compressed() {
        assertThat(compression.apply(text(100), PLACE)).isEqualTo(text(100));
        assertThat(compression.apply(text(104), PLACE).size()).isLessThan(50);
        assertThat(compression.undo(compression.apply(text(1 << 20), PLACE), PLACE))
                .isEqualTo(text(1 << 20));
    }

    @Test
    void a_value_that_looks_compressed_comes_back_too() {
        Payload odd = new Payload(ByteBuffer.allocate(12).putInt(MARK).putInt(4).array());
        Payload stored = compression.apply(odd, PLACE);
        assertThat(stored).isNotEqualTo(odd);
        assertThat(compression.undo(stored, PLACE)).isEqualTo(odd);
    }

    @Test
    void a_flipped_bit_is_refused_or_changes_nothing() {
        byte[] stored = compression.apply(text(400), PLACE).bytes();
        int refused = 0;
        for (int bit = Integer.SIZE; bit < stored.length * Byte.SIZE; bit++) {
            byte[] changed = stored.clone();
            changed[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            try {
                assertThat(compression.undo(new Payload(changed), PLACE)).isEqualTo(text(400));
            } catch (PayloadException damaged) {
                assertThat(damaged)
                        .hasMessage("The compressed value for the result of run 'order-42' is damaged. "
                                + "Restore it from a backup.");
                refused++;
            }
        }
        assertThat(refused).isGreaterThan((stored.length - Integer.BYTES) * 7);
    }

    @Test
    void a_value_that_inflates_to_more_than_it_says_is_refused_early() {
        byte[] stored = compression.apply(text(1 << 24), PLACE).bytes();
        ByteBuffer.wrap(stored).putInt(4, 10);
        assertThatThrownBy(() -> compression.undo(new Payload(stored), PLACE)).isInstanceOf(PayloadException.class);
        ByteBuffer.wrap(stored).putInt(4, -1);
        assertThatThrownBy(() -> compression.undo(new Payload(stored), PLACE)).isInstanceOf(PayloadException.class);
    }

    @Test
    void a_small_row_cannot_inflate_to_more_than_the_limit() {
        byte[] zeros = new byte[Compression.MOST_BYTES + 1];
        assertThat(compression.apply(new Payload(zeros), PLACE).bytes())
                .as("a value over the limit stays as it is")
                .isSameAs(zeros);
        ByteArrayOutputStream bomb = new ByteArrayOutputStream();
        bomb.writeBytes(ByteBuffer.allocate(8).putInt(MARK).putInt(zeros.length).array());
        try (DeflaterOutputStream deflating = new DeflaterOutputStream(bomb)) {
            deflating.write(zeros);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        assertThatThrownBy(() -> compression.undo(new Payload(bomb.toByteArray()), PLACE))
                .isInstanceOf(PayloadException.class)
                .hasMessageEndingWith("is damaged. Restore it from a backup.");
        ByteBuffer.wrap(zeros).putInt(MARK);
        assertThatThrownBy(() -> compression.apply(new Payload(zeros), PLACE))
                .isInstanceOf(PayloadException.class)
                .hasMessage("The value for the result of run 'order-42' has 67108865 bytes and begins like a compressed"
                        + " value, of which the limit is 67108864. Store it elsewhere and pass a reference.");
    }

    @Test
    void a_negative_threshold_is_refused() {
        assertThatThrownBy(() -> Compression.over(-1))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("The threshold of a compression is -1 bytes. Give 0 or more, such as 1024.");
    }
}
