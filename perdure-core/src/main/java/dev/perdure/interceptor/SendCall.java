package dev.perdure.interceptor;

import dev.perdure.RunId;
import dev.perdure.internal.text.Headers;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Something that is about to be sent to a run. Immutable.
 *
 * @param kind what is sent
 * @param name the name of the topic, promise or event; empty for the answer to an awakeable
 * @param to the run that gets it; empty for an event, which reaches every run that waits for it, and for an awakeable,
 *     which its token names
 * @param sentBy the run that sends it; empty if it is sent from outside of runs
 * @param headers its headers so far, by name, as earlier interceptors have set them
 */
public record SendCall(
        Kind kind, String name, Optional<RunId> to, Optional<RunId> sentBy, Map<String, String> headers) {
    /** What is sent. */
    public enum Kind {
        /** A message. */
        MESSAGE,
        /** The value or the rejection of a promise. */
        PROMISE,
        /** The value or the rejection of an awakeable. */
        AWAKEABLE,
        /** An event. */
        EVENT
    }

    /** Checks the headers and copies them. */
    public SendCall {
        Headers.require(headers);
        headers = Collections.unmodifiableMap(new TreeMap<>(headers));
    }

    /**
     * The same with this header, in place of an earlier one of its name.
     *
     * @param header letters, digits, dots, underscores and hyphens, at most 100
     * @param value at most 1,000 characters, without control characters; all headers have at most 4,000 bytes together
     */
    public SendCall with(String header, String value) {
        Map<String, String> more = new TreeMap<>(headers);
        more.put(header, value);
        return new SendCall(kind, name, to, sentBy, more);
    }
}
