package dev.perdure.spi.change;

import java.util.UUID;

/**
 * Something for a run from elsewhere: a message, a promise's value, a child's outcome.
 *
 * @param channel what it is for
 * @param token names this sending, so that it arrives once although it is sent twice
 * @param status {@link Entry.Status#VALUE} or {@link Entry.Status#FAILURE}
 * @param text for a failure: in short, what happened; otherwise empty
 * @param payload the value or the failure
 */
public record Mail(Channel channel, UUID token, Entry.Status status, String text, Payload payload) {
    /** A value. */
    public static Mail value(Channel channel, UUID token, Payload payload) {
        return new Mail(channel, token, Entry.Status.VALUE, "", payload);
    }

    /** A failure. */
    public static Mail failure(Channel channel, UUID token, String text, Payload payload) {
        return new Mail(channel, token, Entry.Status.FAILURE, text, payload);
    }
}
