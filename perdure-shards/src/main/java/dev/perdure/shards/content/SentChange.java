package dev.perdure.shards.content;

import dev.perdure.RunId;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.attribute.Description;
import dev.perdure.queue.Placement;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a change that one shard sends to another. The input of a run that is started, and the payload of a mail, are
 * no part of them: a store keeps these beside them, because they may refer to large payloads.
 */
public final class SentChange {
    private static final byte VERSION = 1;

    private enum Kind {
        START,
        DELIVER,
        CANCEL
    }

    private SentChange() {}

    // ---- writing

    public static Payload start(NewRun run, List<Task> tasks, List<Mail> mails) {
        return bytes(Kind.START, out -> {
            write(out, run);
            out.writeInt(tasks.size());
            for (Task task : tasks) {
                write(out, task.run());
                write(out, task.run().input());
                out.writeInt(task.after().size());
                for (int after : task.after()) {
                    out.writeInt(after);
                }
            }
            out.writeInt(mails.size());
            for (Mail mail : mails) {
                write(out, mail);
                write(out, mail.payload());
            }
        });
    }

    public static Payload deliver(RunId to, Mail mail) {
        return bytes(Kind.DELIVER, out -> {
            write(out, to.value());
            write(out, mail);
        });
    }

    public static Payload cancel(RunId run, String reason) {
        return bytes(Kind.CANCEL, out -> {
            write(out, run.value());
            write(out, reason);
        });
    }

    private interface Writing {
        void to(DataOutputStream out) throws IOException;
    }

    private static Payload bytes(Kind kind, Writing writing) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(VERSION);
            out.writeByte(kind.ordinal());
            writing.to(out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Payload(bytes.toByteArray());
    }

    /** Any string that a Java program can hold. */
    private static void write(DataOutputStream out, @Nullable String text) throws IOException {
        out.writeInt(text == null ? -1 : text.length());
        if (text != null) {
            out.writeChars(text);
        }
    }

    private static void write(DataOutputStream out, Payload payload) throws IOException {
        out.writeInt(payload.size());
        out.write(payload.bytes());
    }

    private static void write(DataOutputStream out, @Nullable Duration duration) throws IOException {
        write(out, duration == null ? null : duration.toString());
    }

    private static void write(DataOutputStream out, Map<String, String> texts) throws IOException {
        out.writeInt(texts.size());
        for (Map.Entry<String, String> each : texts.entrySet()) {
            write(out, each.getKey());
            write(out, each.getValue());
        }
    }

    private static void write(DataOutputStream out, Mail mail) throws IOException {
        out.writeByte(mail.channel().kind().ordinal());
        out.writeInt(mail.channel().position());
        write(out, mail.channel().name());
        out.writeLong(mail.token().getMostSignificantBits());
        out.writeLong(mail.token().getLeastSignificantBits());
        out.writeByte(mail.status().ordinal());
        write(out, mail.text());
        write(out, mail.headers());
    }

    private static void write(DataOutputStream out, NewRun run) throws IOException {
        write(out, run.id().value());
        write(out, run.definition());
        out.writeLong(run.seed());
        write(out, run.queue());
        out.writeInt(run.priority());
        write(out, run.version());
        write(out, run.timeout());
        write(out, run.delay());
        Parent parent = run.parent();
        out.writeBoolean(parent != null);
        if (parent != null) {
            write(out, parent.run().id().value());
            out.writeLong(parent.run().key());
            out.writeInt(parent.position());
            out.writeBoolean(parent.answers());
        }
        ObjectCall call = run.object();
        out.writeBoolean(call != null);
        if (call != null) {
            write(out, call.object().type());
            write(out, call.object().key());
            out.writeByte(call.hold().ordinal());
        }
        Map<String, String> attributes = new TreeMap<>();
        run.description().attributes().forEach((name, value) -> attributes.put(name, value.encoded()));
        write(out, attributes);
        write(out, run.description().memo().orElse(null));
        write(out, run.description().status().orElse(null));
        write(out, run.description().headers());
        write(out, run.queueKey());
        write(out, run.admission().startWithin());
        out.writeInt(run.admission().weight());
        write(out, run.admission().placement().text());
    }

    // ---- reading

    /**
     * The change.
     *
     * @param value the input of the run, or the payload of the mail
     * @param life the life of the run that sent it
     */
    public static Change read(Payload bytes, Payload value, int life) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes.bytes()))) {
            byte version = in.readByte();
            if (version != VERSION) {
                throw new IllegalStateException(
                        "A change on its way was written by a later version of Perdure (format %d, this one reads %d). Deploy that version to all processes."
                                .formatted(version, VERSION));
            }
            return switch (Kind.values()[in.readByte()]) {
                case START -> readStart(in, value, life);
                case DELIVER -> new Change.Deliver(RunId.of(text(in)), mail(in, value));
                case CANCEL -> new Change.Command(RunId.of(text(in)), Change.CommandKind.CANCEL, text(in));
            };
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Change readStart(DataInputStream in, Payload value, int life) throws IOException {
        NewRun run = run(in, life).withInput(value);
        List<Task> tasks = new ArrayList<>();
        for (int left = in.readInt(); left > 0; left--) {
            NewRun task = run(in, life).withInput(payload(in));
            List<Integer> after = new ArrayList<>();
            for (int more = in.readInt(); more > 0; more--) {
                after.add(in.readInt());
            }
            tasks.add(new Task(task, after));
        }
        List<Mail> mails = new ArrayList<>();
        for (int left = in.readInt(); left > 0; left--) {
            Mail mail = mail(in, Payload.EMPTY);
            mails.add(new Mail(mail.channel(), mail.token(), mail.status(), mail.text(), payload(in), mail.headers()));
        }
        return new Change.Start(run, null, mails, tasks);
    }

    private static @Nullable String textOrNull(DataInputStream in) throws IOException {
        int length = in.readInt();
        if (length < 0) {
            return null;
        }
        StringBuilder text = new StringBuilder(length);
        for (int i = 0; i < length; i++) {
            text.append(in.readChar());
        }
        return text.toString();
    }

    private static String text(DataInputStream in) throws IOException {
        String text = textOrNull(in);
        if (text == null) {
            throw new IOException("A text is missing in a change on its way.");
        }
        return text;
    }

    private static Payload payload(DataInputStream in) throws IOException {
        return new Payload(in.readNBytes(in.readInt()));
    }

    private static @Nullable Duration duration(DataInputStream in) throws IOException {
        String text = textOrNull(in);
        return text == null ? null : Duration.parse(text);
    }

    private static Map<String, String> texts(DataInputStream in) throws IOException {
        Map<String, String> texts = new TreeMap<>();
        for (int left = in.readInt(); left > 0; left--) {
            texts.put(text(in), text(in));
        }
        return texts;
    }

    private static Mail mail(DataInputStream in, Payload payload) throws IOException {
        Channel channel = new Channel(Channel.Kind.values()[in.readByte()], in.readInt(), text(in));
        UUID token = new UUID(in.readLong(), in.readLong());
        return new Mail(channel, token, Entry.Status.values()[in.readByte()], text(in), payload, texts(in));
    }

    /** A run that no caller started is kept for a while after its end, so that a second copy finds it. */
    private static NewRun run(DataInputStream in, int life) throws IOException {
        RunId id = RunId.of(text(in));
        String definition = text(in);
        long seed = in.readLong();
        String queue = text(in);
        int priority = in.readInt();
        String version = textOrNull(in);
        Duration timeout = duration(in);
        Duration delay = duration(in);
        Parent parent = in.readBoolean()
                ? new Parent(new RunRef(RunId.of(text(in)), in.readLong()), in.readInt(), in.readBoolean(), life)
                : null;
        ObjectCall call = in.readBoolean()
                ? new ObjectCall(new ObjectKey(text(in), text(in)), ObjectCall.Hold.values()[in.readByte()])
                : null;
        Map<String, AttributeValue> attributes = new TreeMap<>();
        texts(in).forEach((name, value) -> attributes.put(name, AttributeValue.decoded(value)));
        Description description = new Description(
                attributes, Optional.ofNullable(textOrNull(in)), Optional.ofNullable(textOrNull(in)), texts(in));
        String queueKey = textOrNull(in);
        Admission admission = new Admission(duration(in), in.readInt(), null, true, Placement.of(textOrNull(in)));
        return new NewRun(
                id,
                definition,
                Payload.EMPTY,
                seed,
                queue,
                priority,
                version,
                timeout,
                delay,
                parent,
                call,
                description,
                queueKey,
                admission);
    }
}
