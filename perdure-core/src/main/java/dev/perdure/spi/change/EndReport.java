package dev.perdure.spi.change;

import dev.perdure.RunId;
import dev.perdure.RunState;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * How a run ended, as the run gets it to which it {@link Parent#reporting reports}: a message under {@link #TOPIC},
 * written by the store in the transaction that ends the run. Its payload is text in UTF-8, which every store can write:
 * the id, the name of the state and the reason, with line feeds between them.
 *
 * @param run the run that ended
 * @param state the terminal state; null if no run was started, because another one has the id
 * @param reason why it did not complete; empty if it did
 */
public record EndReport(RunId run, @Nullable RunState state, String reason) {
    /** The topic of the messages. */
    public static final String TOPIC = "perdure.ended";

    /** What stands for the state if another run has the id. */
    public static final String TAKEN = "TAKEN";

    private static final char END = '\n';

    /** The channel of the messages. */
    public static Channel channel() {
        return Channel.message(TOPIC);
    }

    /** The report that another run has the id. */
    public static Mail taken(RunId run, long seed) {
        return Mail.value(channel(), new UUID(seed, Parent.REPORTS), new EndReport(run, null, "").payload());
    }

    /** The report as bytes. */
    public Payload payload() {
        String how = state == null ? TAKEN : state.name();
        return new Payload((run.value() + END + how + END + reason).getBytes(StandardCharsets.UTF_8));
    }

    /** Reads a report; empty if the bytes are none. */
    public static Optional<EndReport> read(Payload payload) {
        String text = new String(payload.bytes(), StandardCharsets.UTF_8);
        int id = text.indexOf(END);
        int how = text.indexOf(END, id + 1);
        if (id <= 0 || how < 0) {
            return Optional.empty();
        }
        String state = text.substring(id + 1, how);
        return Optional.of(new EndReport(
                RunId.of(text.substring(0, id)),
                state.equals(TAKEN) ? null : RunState.valueOf(state),
                text.substring(how + 1)));
    }
}
