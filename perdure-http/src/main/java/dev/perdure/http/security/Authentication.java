package dev.perdure.http.security;

import dev.perdure.http.exchange.ApiRequest;
import java.util.Optional;

/**
 * Tells who sends a request. {@link Tokens} is the one that comes with the library; implement it to use your own, such
 * as the session of a web framework. Implementations are thread-safe.
 *
 * <pre>{@code
 * HttpApi.on(perdure).authentication(request -> sessions.find(request.header("Cookie"))
 *         .map(user -> new Caller(user.name(), user.isOnCall() ? Role.OPERATOR : Role.VIEWER)));
 * }</pre>
 *
 * <p>A browser sends a cookie with requests of other sites too. So every action needs the header
 * {@value #ACTION_HEADER} and the right origin, whatever the authentication is.
 */
@FunctionalInterface
public interface Authentication {
    /** The header that every action needs, with any value: a page of another site cannot make a browser send it. */
    String ACTION_HEADER = "Perdure-Action";

    /** Who sends this request; empty if that is not known, so that the request is refused. */
    Optional<Caller> caller(ApiRequest request);

    /**
     * The name of the user who has signed in, with a role here or without; empty by default. Implement it if users sign
     * in who are no callers: the API then refuses them as users without a role and counts what they try wrong for them
     * alone. Otherwise it counts that for their address, and refuses everybody behind the same proxy for a minute.
     */
    default Optional<String> user(ApiRequest request) {
        return Optional.empty();
    }
}
