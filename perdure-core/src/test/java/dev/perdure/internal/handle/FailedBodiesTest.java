package dev.perdure.internal.handle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.internal.failure.FailedAttempt;
import dev.perdure.internal.failure.Failure;
import dev.perdure.internal.json.JsonCodec;
import dev.perdure.spi.Codec;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Payload;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

final class FailedBodiesTest {
    private final Codec codec = new JsonCodec();

    private static Entry entry(Entry.Kind kind, Entry.Status status, Payload payload) {
        return new Entry(1, Entry.ANSWER, kind, "charge", status, payload);
    }

    @Test
    void a_step_that_failed_for_good_says_why_in_a_line() {
        FailedAttempt last =
                new FailedAttempt(Failure.of(new IllegalStateException("declined\r\n  \u001b[1mby the bank")), 10, 0);
        Entry failed = entry(Entry.Kind.STEP, Entry.Status.FAILURE, codec.encode(last, FailedAttempt.class));
        assertThat(FailedBodies.isOne(failed)).isTrue();
        assertThat(FailedBodies.reason(codec, failed))
                .isEqualTo("java.lang.IllegalStateException: declined    [1mby the bank");
    }

    @Test
    void what_is_no_body_of_a_step_is_left_alone() {
        assertThat(FailedBodies.isOne(entry(Entry.Kind.STEP, Entry.Status.VALUE, Payload.EMPTY)))
                .isFalse();
        assertThat(FailedBodies.isOne(entry(Entry.Kind.PROMISE, Entry.Status.FAILURE, Payload.EMPTY)))
                .isFalse();
    }

    @Test
    void what_the_codec_cannot_read_hides_nothing_else() {
        Payload sealed = new Payload("sealed".getBytes(StandardCharsets.UTF_8));
        Entry attempt = entry(Entry.Kind.TRANSACTION, Entry.Status.ATTEMPT, sealed);
        assertThat(FailedBodies.reason(codec, attempt)).startsWith("what was thrown cannot be read back: ");
    }
}
