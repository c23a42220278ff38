package dev.perdure.dashboard;

import dev.perdure.Perdure;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.http.ApiServer;
import dev.perdure.http.HttpApi;
import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.security.Authentication;
import dev.perdure.http.security.Caller;
import dev.perdure.http.security.Redaction;
import dev.perdure.http.security.Role;
import dev.perdure.http.security.Tokens;
import java.net.InetAddress;
import java.net.URI;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The dashboard of an engine, in its own process: every run with its timeline, and what an operator can do about it.
 * It serves the HTTP API beside its pages. Thread-safe.
 *
 * <pre>{@code
 * try (Dashboard dashboard = Dashboard.on(perdure).port(8080).start()) {
 *     System.out.println(dashboard.address());
 *     …
 * }
 * }</pre>
 *
 * <p>It listens on the loopback address, where everybody on this machine can look. Actions need a token: the
 * {@link #address()} has it after {@code #}, which browsers send to no server. For other addresses, set up
 * authentication of your own.
 */
public final class Dashboard implements AutoCloseable {
    private static final int TOKEN_BYTES = 24;
    /** How many requests of pages ask the store at once: few, because a small pool must leave the engine some. */
    private static final int CONCURRENCY = 3;

    private final ApiServer server;
    private final @Nullable String token;

    private Dashboard(Builder settings) {
        if (settings.authentication == null && !settings.address.isLoopbackAddress()) {
            throw new InvalidRequestException(
                    "Cannot open the dashboard on %s: others than the users of this machine reach it, and it has no authentication. Set it up with authentication(…), or listen on the loopback address."
                            .formatted(settings.address.getHostAddress()));
        }
        this.token = settings.authentication == null ? newToken() : null;
        Authentication authentication =
                token == null ? settings.authentication : new ForThisMachine(settings.caller, token);
        DashboardPages pages = DashboardPages.of(settings.perdure, "/", HttpApi.DEFAULT_PREFIX, settings.period);
        HttpApi.Builder api = HttpApi.on(settings.perdure)
                .pages(pages)
                .sharing(pages::changes)
                .concurrency(CONCURRENCY);
        if (authentication != null) {
            api.authentication(authentication);
        }
        if (settings.hosts != null) {
            api.hosts(settings.hosts);
        }
        if (settings.redaction != null) {
            api.redaction(settings.redaction);
        }
        this.server = ApiServer.of(api.build())
                .address(settings.address)
                .port(settings.port)
                .start();
    }

    private static String newToken() {
        byte[] bytes = new byte[TOKEN_BYTES];
        new SecureRandom().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    /** Everybody on this machine may look; who has the token may act. A wrong token is refused. */
    private record ForThisMachine(Tokens tokens) implements Authentication {
        private static final Caller ANYBODY = new Caller("anybody", Role.VIEWER);

        ForThisMachine(String caller, String token) {
            this(Tokens.none().with(caller, Role.ADMIN, token));
        }

        @Override
        public Optional<Caller> caller(ApiRequest request) {
            return request.headers().containsKey("Authorization") ? tokens.caller(request) : Optional.of(ANYBODY);
        }
    }

    /** Begins to set up the dashboard of an engine. */
    public static Builder on(Perdure perdure) {
        return new Builder(perdure);
    }

    /** Sets up a dashboard. Every option has a default that suits one machine. */
    public static final class Builder {
        private final Perdure perdure;
        private InetAddress address = InetAddress.getLoopbackAddress();
        private int port;
        private String caller = "dashboard";
        private Duration period = LiveChanges.PERIOD;
        private String @Nullable [] hosts;
        private @Nullable Authentication authentication;
        private @Nullable Redaction redaction;

        private Builder(Perdure perdure) {
            this.perdure = perdure;
        }

        /** The port. Without it, or with 0, the system chooses a free one. */
        public Builder port(int number) {
            port = number;
            return this;
        }

        /**
         * The address to listen on, in place of the loopback address, and the names by which browsers call it. It needs
         * {@link #authentication} then, and a proxy before it that speaks TLS.
         */
        public Builder address(InetAddress where, String... names) {
            address = where;
            hosts = names.clone();
            return this;
        }

        /** The name of who has the token, which the audit records. {@code dashboard} by default. */
        public Builder caller(String name) {
            caller = name;
            return this;
        }

        /** Tells who looks and acts, in place of the token that {@link Dashboard#address()} has. */
        public Builder authentication(Authentication how) {
            authentication = how;
            return this;
        }

        /** For tests, which do not want to wait for a second. */
        Builder period(Duration shorter) {
            period = shorter;
            return this;
        }

        /** Removes from what is shown what must not be seen. */
        public Builder redaction(Redaction how) {
            redaction = how;
            return this;
        }

        /** Begins to listen. */
        public Dashboard start() {
            return new Dashboard(this);
        }
    }

    /** Where to look, with the token that allows actions. Treat it as a secret. */
    public URI address() {
        return server.uri().resolve(token == null ? "/" : "/#token=" + token);
    }

    /** Stops. The engine stays open. Closing it again has no effect. */
    @Override
    public void close() {
        server.close();
    }
}
