package dev.perdure.http.internal.route;

import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.json.Json;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** Responses. */
public final class Answers {
    private Answers() {}

    /** 200 with JSON. */
    public static ApiResponse ok(JsonNode json) {
        return of(200, json);
    }

    /** JSON. */
    public static ApiResponse of(int status, JsonNode json) {
        return new ApiResponse(
                status, Map.of("Content-Type", "application/json"), new ApiResponse.Bytes(Json.write(json)));
    }

    /** 204: done, and there is nothing to say. */
    public static ApiResponse done() {
        return new ApiResponse(204, Map.of(), new ApiResponse.Bytes(new byte[0]));
    }

    /** 200 with server-sent events. */
    public static ApiResponse events(ApiResponse.Source source) {
        return new ApiResponse(200, Map.of("Content-Type", "text/event-stream"), new ApiResponse.Stream(source));
    }
}
