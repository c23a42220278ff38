package dev.perdure.shards.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.perdure.RunId;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.attribute.Description;
import dev.perdure.shards.content.SentChange.UnreadableException;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Task;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

final class SentChangeTest {
    private static final Payload VALUE = new Payload("1".getBytes(StandardCharsets.UTF_8));
    private static final RunId RUN = RunId.of("r");

    private static NewRun run(String id) {
        return new NewRun(RunId.of(id), "order", VALUE, 77, "default", 0, null, null);
    }

    private static Mail mail(Channel channel, Entry.Status status) {
        return new Mail(channel, new UUID(1, 2), status, "text", VALUE, Map.of("h", "v"));
    }

    private static Change read(Payload sent) throws UnreadableException {
        return SentChange.read(sent, VALUE, 3);
    }

    @ParameterizedTest
    @EnumSource(value = Entry.Status.class, names = "UNKNOWN", mode = EnumSource.Mode.EXCLUDE)
    void mail_is_read_as_it_was_sent(Entry.Status status) throws UnreadableException {
        for (Channel channel : List.of(Channel.message("topic"), Channel.promise("promise"))) {
            Mail mail = mail(channel, status);
            assertThat(read(SentChange.deliver(RUN, mail))).isEqualTo(new Change.Deliver(RUN, mail));
        }
    }

    @ParameterizedTest
    @EnumSource(value = ObjectCall.Hold.class, names = "UNKNOWN", mode = EnumSource.Mode.EXCLUDE)
    void a_start_is_read_as_it_was_sent(ObjectCall.Hold hold) throws UnreadableException {
        NewRun run = run("r").on(new ObjectCall(new ObjectKey("cart", "k"), hold))
                .describedAs(Description.NONE.with("customer", new AttributeValue.Text("c-1")));
        Change.Start start = (Change.Start) read(SentChange.start(
                run,
                List.of(new Task(run("r/t"), List.of())),
                List.of(mail(Channel.message("m"), Entry.Status.VALUE))));
        assertThat(start.run().object()).isEqualTo(run.object());
        assertThat(start.run().description()).isEqualTo(run.description());
        assertThat(start.tasks()).extracting(task -> task.run().id()).containsExactly(RunId.of("r/t"));
        assertThat(start.mails()).containsExactly(mail(Channel.message("m"), Entry.Status.VALUE));
    }

    /** The same with another name of the same length; constants are UTF-8, texts are UTF-16. */
    private static Payload replaced(Payload sent, String known, String newer) {
        Charset written = known.contains(":") ? StandardCharsets.UTF_16BE : StandardCharsets.UTF_8;
        String bytes = new String(sent.bytes(), StandardCharsets.ISO_8859_1);
        String before = new String(known.getBytes(written), StandardCharsets.ISO_8859_1);
        assertThat(bytes).contains(before);
        return new Payload(bytes.replace(before, new String(newer.getBytes(written), StandardCharsets.ISO_8859_1))
                .getBytes(StandardCharsets.ISO_8859_1));
    }

    @ParameterizedTest
    @CsvSource({
        "START, RERUN", // a kind of change
        "EXCLUSIVE, ALTERNATE", // a hold
        "MESSAGE, COMMAND", // a channel
        "VALUE, GUESS", // a status
        "text:c-1, cash:c-1" // an attribute
    })
    void a_name_that_only_a_newer_version_knows_is_not_guessed(String known, String newer) {
        Payload sent = SentChange.start(
                run("r").on(new ObjectCall(new ObjectKey("cart", "k"), ObjectCall.Hold.EXCLUSIVE))
                        .describedAs(Description.NONE.with("customer", new AttributeValue.Text("c-1"))),
                List.of(),
                List.of(mail(Channel.message("m"), Entry.Status.VALUE)));
        assertThatExceptionOfType(UnreadableException.class).isThrownBy(() -> read(replaced(sent, known, newer)));
    }

    @Test
    void what_has_another_format_or_more_than_this_version_reads_is_not_guessed() {
        byte[] sent = SentChange.cancel(RUN, "why").bytes();
        byte[] later = sent.clone();
        later[0]++;
        assertThatExceptionOfType(UnreadableException.class)
                .isThrownBy(() -> read(new Payload(later)))
                .withMessage("It has format 3, and this version reads 2.");
        assertThatExceptionOfType(UnreadableException.class)
                .isThrownBy(() -> read(new Payload(Arrays.copyOf(sent, sent.length + 4))))
                .withMessage("It has 4 bytes more than this version reads.");
    }
}
