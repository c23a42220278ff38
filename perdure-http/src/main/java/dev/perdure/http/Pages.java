package dev.perdure.http;

import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.exchange.ApiResponse;

/** Pages beside the API, such as the dashboard. Implementations are thread-safe. */
@FunctionalInterface
public interface Pages extends AutoCloseable {
    /**
     * Answers a {@code GET} or {@code HEAD} of a path outside of the API. The host was checked, and the caller only if
     * {@link #needsCaller}. The response is sent as it is.
     */
    ApiResponse answer(ApiRequest request);

    /** Whether only callers of the API may see this. The API refuses others as it refuses them its own routes. */
    default boolean needsCaller(ApiRequest request) {
        return false;
    }

    /** Ends what is still being sent. The API calls it when it is closed. */
    @Override
    default void close() {}
}
