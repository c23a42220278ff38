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
 *
 * <p>A process of another version of the library may read them. So a constant is written by its name, and what this version
 * does not know is not read at all.
 */
public final class SentChange {
    private static final byte VERSION = 2;

    private enum Kind {
        START,
        DELIVER,
        CANCEL,
        RETELL
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

    public static Payload retell(RunId run, Parent caller) {
        return bytes(Kind.RETELL, out -> {
            write(out, run.value());
            write(out, caller.run().id().value());
            out.writeLong(caller.run().key());
            out.writeInt(caller.position());
        });
    }

    private interface Writing {
        void to(DataOutputStream out) throws IOException;
    }

    private static Payload bytes(Kind kind, Writing writing) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(VERSION);
            write(out, kind);
            writing.to(out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Payload(bytes.toByteArray());
    }

    private static void write(DataOutputStream out, Enum<?> constant) throws IOException {
        out.writeUTF(constant.name());
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
        write(out, mail.channel().kind());
        out.writeInt(mail.channel().position());
        write(out, mail.channel().name());
        out.writeLong(mail.token().getMostSignificantBits());
        out.writeLong(mail.token().getLeastSignificantBits());
        write(out, mail.status());
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
            write(out, call.hold());
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
     * @throws UnreadableException if any of it is unknown to this version
     */
    public static Change read(Payload bytes, Payload value, int life) throws UnreadableException {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes.bytes()))) {
            byte version = in.readByte();
            if (version != VERSION) {
                throw new IOException("It has format %s, and this version reads %s.".formatted(version, VERSION));
            }
            Change change = switch (Kind.valueOf(in.readUTF())) {
                case START -> readStart(in, value, life);
                case DELIVER -> new Change.Deliver(RunId.of(text(in)), mail(in, value));
                case RETELL ->
                    new Change.Retell(
                            RunId.of(text(in)),
                            new Parent(new RunRef(RunId.of(text(in)), in.readLong()), in.readInt(), true, life));
                case CANCEL -> new Change.Command(RunId.of(text(in)), Change.CommandKind.CANCEL, text(in));
            };
            if (in.available() > 0) {
                throw new IOException("It has %s bytes more than this version reads.".formatted(in.available()));
            }
            return change;
        } catch (IOException | RuntimeException unknown) {
            throw new UnreadableException(unknown);
        }
    }

    /** A change that this version cannot read: a newer one has written it. */
    public static final class UnreadableException extends Exception {
        private static final long serialVersionUID = 1;

        private UnreadableException(Exception cause) {
            super(cause.getMessage(), cause);
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
        Channel channel = new Channel(Channel.Kind.valueOf(in.readUTF()), in.readInt(), text(in));
        UUID token = new UUID(in.readLong(), in.readLong());
        return new Mail(channel, token, Entry.Status.valueOf(in.readUTF()), text(in), payload, texts(in));
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
                ? new ObjectCall(new ObjectKey(text(in), text(in)), ObjectCall.Hold.valueOf(in.readUTF()))
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
