package dev.perdure.spi.change;

import java.util.Map;
import java.util.UUID;

/**
 * Something that reaches a run from outside: a message, a promise's value, a child's outcome.
 *
 * @param channel the channel on which it arrives
 * @param token identifies the mail, so that it arrives once even if it is sent twice
 * @param status {@link Entry.Status#VALUE} or {@link Entry.Status#FAILURE}
 * @param text for a failure: a short description; otherwise empty
 * @param payload the value or the failure
 * @param headers what the interceptors of the sender add, by name
 */
public record Mail(
        Channel channel, UUID token, Entry.Status status, String text, Payload payload, Map<String, String> headers) {
    /** A value. */
    public static Mail value(Channel channel, UUID token, Payload payload) {
        return new Mail(channel, token, Entry.Status.VALUE, "", payload, Map.of());
    }

    /** The same with another payload. */
    public Mail with(Payload other) {
        return new Mail(channel, token, status, text, other, headers);
    }

    /** A failure. */
    public static Mail failure(Channel channel, UUID token, String text, Payload payload) {
        return new Mail(channel, token, Entry.Status.FAILURE, text, payload, Map.of());
    }

    /** The same with these headers. */
    public Mail withHeaders(Map<String, String> added) {
        return added.isEmpty() ? this : new Mail(channel, token, status, text, payload, added);
    }
}
