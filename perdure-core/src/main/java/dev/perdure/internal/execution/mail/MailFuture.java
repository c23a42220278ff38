package dev.perdure.internal.execution.mail;

import dev.perdure.Settled;
import dev.perdure.internal.execution.future.EngineFuture;
import dev.perdure.internal.execution.future.Futures;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.replay.Replay;
import dev.perdure.internal.execution.transition.WaitCondition;
import dev.perdure.internal.text.Headers;
import dev.perdure.spi.Mailboxes.Arrived;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.payload.PayloadPlace;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A future that mail settles. An await takes the mail when it finds it, and not before, so that a receive that gives up
 * takes none. The same transition copies the mail into the journal, so that a replay does not need the mailbox.
 *
 * <p>A message or a promise is not requested, so the journal does not show the call before it is answered. When a run
 * leaves memory to wait for one, it writes that in the same transition. So the replay detects code that waits for
 * something else, as at any other call.
 */
public class MailFuture<T extends @Nullable Object> extends EngineFuture<T> {
    private final ContextCall call;
    private final Channel channel;
    private final PayloadPlace madeFor;
    private final RunMail runMail;
    private final Function<Entry, Settled<T>> reader;
    /** Whether the journal shows what this waits for. */
    private boolean noted;

    private @Nullable Settled<T> settled;

    /**
     * Where mail comes from.
     *
     * @param channel the channel on which it arrives
     * @param madeFor the place for which its value was made
     */
    public record Source(Channel channel, PayloadPlace madeFor) {}

    /**
     * A future of what arrives on a channel.
     *
     * @param reader makes an answer from an entry, now or on a replay
     */
    public MailFuture(
            Futures futures,
            ContextCall call,
            Replay.Past past,
            Source source,
            RunMail runMail,
            Function<Entry, Settled<T>> reader) {
        super(futures);
        this.call = call;
        this.channel = source.channel();
        this.madeFor = source.madeFor();
        this.runMail = runMail;
        this.reader = reader;
        this.noted = channel.kind() == Channel.Kind.ANSWER || !past.entries().isEmpty();
        past.answer().map(Recorded::entry).ifPresent(entry -> settled = reader.apply(entry));
    }

    ContextCall call() {
        return call;
    }

    @Override
    protected @Nullable Settled<T> look() {
        if (settled == null) {
            runMail.first(channel).ifPresent(this::settle);
        }
        return settled;
    }

    private void settle(Arrived arrived) {
        Entry answer = runMail.answer(call, arrived.mail(), madeFor);
        settled = reader.apply(answer);
        if (!arrived.mail().headers().isEmpty()) {
            String lines = Headers.lines(arrived.mail().headers());
            Payload headers = new Payload(lines.getBytes(StandardCharsets.UTF_8));
            runMail.defer(call.note(Entry.HEADERS, Entry.Status.HEADERS, headers));
        }
        if (channel.kind() == Channel.Kind.PROMISE) {
            runMail.defer(answer); // Other futures may wait for it too.
        } else {
            runMail.inbox().take(arrived);
            runMail.defer(answer, new Effect.Take(arrived.number()));
        }
    }

    @Override
    protected void wants(WaitCondition wanted) {
        wanted.mail(channel);
        if (!noted) {
            wanted.note(call.note(1, Entry.Status.BEGUN, Payload.EMPTY), () -> noted = true);
        }
    }

    @Override
    protected String awaited() {
        return switch (call.kind()) {
            case RECEIVE -> "A message on topic '%s'".formatted(call.name());
            case AWAKEABLE -> "The answer to the awakeable";
            case CHILD -> "The result of child '%s'".formatted(call.name());
            case PROMISE -> "Promise '%s'".formatted(call.name());
            default -> "Event '%s'".formatted(call.name());
        };
    }

    @Override
    protected boolean isOneAnswer() {
        return channel.once();
    }
}
