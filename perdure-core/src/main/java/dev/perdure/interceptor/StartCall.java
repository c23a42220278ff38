package dev.perdure.interceptor;

import dev.perdure.RunId;
import dev.perdure.internal.text.Headers;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A run that is about to be started. Immutable.
 *
 * @param run its id
 * @param definition the name of its definition
 * @param queue its queue
 * @param startedBy the run that starts it, such as its parent or its schedule; empty for a start from outside of runs
 * @param headers its headers so far, by name: those of the run that starts it, as earlier interceptors have changed them
 */
public record StartCall(
        RunId run, String definition, String queue, Optional<RunId> startedBy, Map<String, String> headers) {
    /** Checks the headers and copies them. */
    public StartCall {
        Headers.require(headers);
        headers = Collections.unmodifiableMap(new TreeMap<>(headers));
    }

    /**
     * The same with this header, in place of an earlier one of its name.
     *
     * @param name letters, digits, dots, underscores and hyphens, at most 100
     * @param value at most 1,000 characters, without control characters; all headers of a run have at most 4,000 bytes
     */
    public StartCall with(String name, String value) {
        Map<String, String> more = new TreeMap<>(headers);
        more.put(name, value);
        return new StartCall(run, definition, queue, startedBy, more);
    }

    /** The same without this header. */
    public StartCall without(String name) {
        Map<String, String> fewer = new TreeMap<>(headers);
        fewer.remove(name);
        return new StartCall(run, definition, queue, startedBy, fewer);
    }
}
