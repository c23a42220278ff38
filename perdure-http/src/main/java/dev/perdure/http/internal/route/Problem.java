package dev.perdure.http.internal.route;

import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.json.Json;
import dev.perdure.http.internal.json.Shape;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A request that is refused: the status, the name of the problem, and what happened and what to do. */
public final class Problem extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What a problem looks like, after RFC 9457. */
    public static final Shape<Problem> SHAPE = Shape.<Problem>named("Problem")
            .text("type", "Identifies the kind of problem.", problem -> "urn:perdure:problem:" + problem.name)
            .text(
                    "title",
                    "The name of the problem: of an exception of the library, or of a refusal by the API.",
                    problem -> problem.name)
            .number("status", "The status code.", problem -> problem.status)
            .text("detail", "What happened, to what, and what to do about it.", Problem::getMessage);

    private final int status;
    private final String name;
    private final boolean wrongSecret;

    /** A problem. */
    public Problem(int status, String name, @Nullable String detail) {
        this(status, name, detail, false);
    }

    private Problem(int status, String name, @Nullable String detail, boolean wrongSecret) {
        super(detail, null, false, false);
        this.status = status;
        this.name = name;
        this.wrongSecret = wrongSecret;
    }

    /** A request that says something wrong. */
    public static Problem invalid(String detail) {
        return new Problem(400, "InvalidRequest", detail);
    }

    /** A thing that is not there. */
    public static Problem unknown(String name, String detail) {
        return new Problem(404, name, detail);
    }

    /** A secret that the request carries is wrong, so that its sender may be guessing. */
    public static Problem wrongSecret(String name, String detail) {
        return new Problem(401, name, detail, true);
    }

    /** Whether a secret that the request carries is wrong. */
    public boolean isWrongSecret() {
        return wrongSecret;
    }

    /** The status code. */
    public int status() {
        return status;
    }

    /** The name. */
    public String name() {
        return name;
    }

    /** The response that tells it. */
    public ApiResponse response() {
        return new ApiResponse(
                status,
                Map.of("Content-Type", "application/problem+json"),
                new ApiResponse.Bytes(Json.write(SHAPE.json(this))));
    }
}
