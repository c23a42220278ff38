package dev.perdure.http.exchange;

import java.io.IOException;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the API answers.
 *
 * @param status the status code
 * @param headers the headers
 * @param content the body
 */
public record ApiResponse(int status, Map<String, String> headers, Content content) {
    /** Copies the headers. */
    public ApiResponse {
        Map<String, String> copy = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        copy.putAll(headers);
        headers = Collections.unmodifiableMap(copy);
    }

    /** A body. */
    public sealed interface Content {}

    /**
     * A body that is there.
     *
     * @param bytes the body; empty if there is none
     */
    @SuppressWarnings("ArrayRecordComponent") // written once and never compared
    public record Bytes(byte[] bytes) implements Content {}

    /**
     * A body that is written as it comes into being.
     *
     * @param source what writes it
     */
    public record Stream(Source source) implements Content {}

    /** Writes a body as it comes into being. It returns when the body is complete or the API is closed. */
    @FunctionalInterface
    public interface Source {
        /** Writes all parts. */
        void writeTo(Sink sink) throws IOException, InterruptedException;
    }

    /** Where an adapter takes a body in parts. */
    @FunctionalInterface
    public interface Sink {
        /**
         * Sends a part at once.
         *
         * @throws IOException if the client is gone or takes nothing for too long
         */
        void send(byte[] part) throws IOException;
    }

    /** The body, if it is there as a whole. */
    public byte[] bytes() {
        return content instanceof Bytes there ? there.bytes() : new byte[0];
    }

    /** The same with this header. */
    public ApiResponse with(String name, String value) {
        Map<String, String> more = new TreeMap<>(headers);
        more.put(name, value);
        return new ApiResponse(status, more, content);
    }
}
