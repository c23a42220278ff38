package dev.perdure.http.internal.guard;

import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.internal.route.Problem;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.security.Authentication;
import dev.perdure.http.security.Caller;
import dev.perdure.http.security.Role;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets a request through, or refuses it. In this order: the host that the client thinks it speaks to, who the client is,
 * what the client may do, and whether an action comes from a page of this API or from no page at all.
 */
public final class Gate {
    /** Who reads if no authentication is set up. */
    private static final Caller ANYBODY = new Caller("anybody", Role.VIEWER);
    /** Who sends a request that carries its own secret. */
    private static final Caller WEBHOOK = new Caller("webhook", Role.VIEWER);

    private static final Set<String> SAME_SITE = Set.of("same-origin", "none");

    private final Set<String> hosts;
    private final Set<String> origins;
    private final @Nullable Authentication authentication;
    private final FailureLimit failures;
    /** Of the secrets that requests to open routes carry: who guesses these does not lock out the callers. */
    private final FailureLimit wrongSecrets;

    /**
     * A gate.
     *
     * @param hosts the names of this API, in lower case
     * @param origins the origins of other pages that may act
     * @param authentication tells who sends a request, or null
     * @param nanoTime the clock of the limits on failed authentication
     */
    public Gate(
            Set<String> hosts, Set<String> origins, @Nullable Authentication authentication, LongSupplier nanoTime) {
        this.hosts = Set.copyOf(hosts);
        this.origins = Set.copyOf(origins);
        this.authentication = authentication;
        this.failures = new FailureLimit(nanoTime);
        this.wrongSecrets = new FailureLimit(nanoTime);
    }

    /**
     * Checks that the client means this API. A page of another site can make its own name point to this address (DNS
     * rebinding), but it cannot make the browser send another name.
     */
    public void checkHost(ApiRequest request) {
        String host = request.header("Host").orElse("");
        if (!hosts.contains(name(host))) {
            throw new Problem(
                    421,
                    "UnknownHost",
                    "The request is for the host '%s', which is no name of this API. Name it with hosts(…) when you build the API, with Spring Boot in perdure.http.hosts."
                            .formatted(name(host)));
        }
    }

    /** The name without the port. */
    private static String name(String host) {
        int bracket = host.indexOf(']');
        int colon = host.indexOf(':', Math.max(bracket, 0));
        return (colon < 0 ? host : host.substring(0, colon)).toLowerCase(Locale.ROOT);
    }

    /** Who sends the request, if the route is for that caller. */
    public Caller admit(ApiRequest request, Route route) {
        Role needed = route.role().orElse(null);
        if (needed == null) {
            requireFew(wrongSecrets, request);
            checkOrigin(request);
            return WEBHOOK;
        }
        Caller caller = caller(request, route.isAction());
        if (!caller.role().includes(needed)) {
            throw new Problem(
                    403,
                    "RoleMissing",
                    "'%s' has the role %s, and this needs %s. Use a token of that role."
                            .formatted(caller.name(), caller.role(), needed));
        }
        if (route.isAction()) {
            checkAction(request);
        }
        return caller;
    }

    /** Who looks at a page that is for callers only. Every role may look. */
    public Caller admitToPage(ApiRequest request) {
        return caller(request, false);
    }

    private static void requireFew(FailureLimit failed, ApiRequest request) {
        if (failed.blocks(request.address())) {
            throw tooMany();
        }
    }

    private static Problem tooMany() {
        return new Problem(
                429,
                "TooManyFailures",
                "This address has failed to authenticate %s times in a minute. Wait a minute, then send the right token."
                        .formatted(FailureLimit.MOST_FAILURES));
    }

    /** Counts a secret in a request to an open route that was wrong. */
    public void failed(ApiRequest request) {
        wrongSecrets.count(request.address());
    }

    private Caller caller(ApiRequest request, boolean acts) {
        if (authentication == null) {
            if (acts) {
                throw new Problem(
                        401,
                        "NotAuthenticated",
                        "This API has no authentication, so it only reads. Set up tokens with authentication(…) when you build the API.");
            }
            return ANYBODY;
        }
        Optional<String> user = authentication.user(request);
        // A user who has signed in locks out nobody else behind the same address.
        String failing = user.map(name -> "user " + name).orElse(request.address());
        boolean blocked = failures.blocks(failing);
        Optional<Caller> caller = blocked ? Optional.empty() : authentication.caller(request);
        if (caller.isPresent()) {
            return caller.get();
        }
        // A browser sends the cookies of other programs of this host along: they are no attempt to get in here.
        if (!blocked && request.headers().containsKey("Authorization")) {
            failures.count(failing);
        }
        throw user.map(Gate::withoutRole).orElseGet(() -> blocked ? tooMany() : notAuthenticated());
    }

    private static Problem withoutRole(String user) {
        return new Problem(
                403,
                "RoleMissing",
                "The user '%s' has no role here. Give the user one, with Spring Boot an authority of perdure.http.authorities, or sign in as another user."
                        .formatted(user));
    }

    private static Problem notAuthenticated() {
        return new Problem(
                401,
                "NotAuthenticated",
                "The request has no valid token, and comes from no user who has a role here. Send a token in the header 'Authorization: Bearer …', or sign in as such a user.");
    }

    /**
     * A page of another site can make a browser send a request with the user's credentials (CSRF), but without this
     * header, and with the page's own origin.
     */
    private void checkAction(ApiRequest request) {
        if (request.header(Authentication.ACTION_HEADER).isEmpty()) {
            throw new Problem(
                    403,
                    "ActionHeaderMissing",
                    "An action needs the header '%s' with any value. Send '%1$s: true'."
                            .formatted(Authentication.ACTION_HEADER));
        }
        checkOrigin(request);
    }

    private void checkOrigin(ApiRequest request) {
        String site = request.header("Sec-Fetch-Site").orElse("none");
        boolean hasOrigin = request.headers().containsKey("Origin");
        String origin = request.header("Origin").orElse("");
        boolean known = origins.contains(origin);
        if ((hasOrigin && !known && !isOwn(origin, request)) || (!known && !SAME_SITE.contains(site))) {
            throw new Problem(
                    403,
                    "ForeignOrigin",
                    "The action comes from a page of '%s', which may not act here. Name it with origins(…) when you build the API, with Spring Boot in perdure.http.origins."
                            .formatted(origin));
        }
    }

    /** The host was checked before, so its own pages have the same one. */
    private static boolean isOwn(String origin, ApiRequest request) {
        String host = request.header("Host").orElse("").toLowerCase(Locale.ROOT);
        return origin.equals("http://" + host) || origin.equals("https://" + host);
    }
}
