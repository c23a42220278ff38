package dev.perdure.http.exchange;

import java.io.InputStream;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A request as an adapter has received it.
 *
 * @param method such as {@code GET}
 * @param target path and query as they were sent, still encoded
 * @param headers the headers; their names have no case
 * @param address from where it comes, for the audit and for the limit on failed authentication
 * @param body the body; the API reads it only if it needs it, up to a limit
 */
public record ApiRequest(
        String method, String target, Map<String, List<String>> headers, String address, InputStream body) {
    /** Copies the headers. */
    public ApiRequest {
        Map<String, List<String>> copy = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        headers.forEach((name, values) -> copy.merge(name, List.copyOf(values), ApiRequest::both));
        headers = Collections.unmodifiableMap(copy);
    }

    private static List<String> both(List<String> some, List<String> more) {
        return Stream.concat(some.stream(), more.stream()).toList();
    }

    /** A request without headers and body, to be completed. */
    public static ApiRequest of(String method, String target) {
        return new ApiRequest(method, target, Map.of(), "127.0.0.1", InputStream.nullInputStream());
    }

    /** The same with this header, in place of an earlier one. */
    public ApiRequest with(String name, String value) {
        Map<String, List<String>> more = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        more.putAll(headers);
        more.put(name, List.of(value));
        return new ApiRequest(method, target, more, address, body);
    }

    /** The same with this body. */
    public ApiRequest with(InputStream content) {
        return new ApiRequest(method, target, headers, address, content);
    }

    /** The same from this address. */
    public ApiRequest from(String place) {
        return new ApiRequest(method, target, headers, place, body);
    }

    /** The value of a header; empty if the header is missing or was sent more than once. */
    public Optional<String> header(String name) {
        List<String> values = headers.getOrDefault(name, List.of());
        return values.size() == 1 ? Optional.of(values.getFirst()) : Optional.empty();
    }

    /** Method and path without tokens: query, headers and tokens are secrets. */
    @Override
    public String toString() {
        int query = target.indexOf('?');
        String path = query < 0 ? target : target.substring(0, query);
        return method + " " + path.replaceAll("(/awakeables/|/webhooks/[^/]*/)[^/]+", "$1…");
    }
}
