package dev.perdure.http;

import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.exchange.ApiResponse;

/** Pages beside the API, such as the dashboard. Implementations are thread-safe. */
@FunctionalInterface
public interface Pages {
    /**
     * Answers a {@code GET} or {@code HEAD} of a path outside of the API. The host was checked, the caller was not. The
     * response is sent as it is.
     */
    ApiResponse answer(ApiRequest request);
}
