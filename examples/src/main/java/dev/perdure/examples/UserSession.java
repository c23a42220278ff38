package dev.perdure.examples;

import static dev.perdure.StartOptions.after;

import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.SharedObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** The session of a user. A user has at most one session, and it expires by itself. */
@VirtualObject("session")
public final class UserSession {
    /** A session. */
    public record Session(String token, Instant since, boolean expired) {}

    private static final Duration LENGTH = Duration.ofMinutes(30);
    private static final StateKey<Session> SESSION = StateKey.of("session", Session.class);

    private final Credentials credentials;

    /** Sessions that check passwords with these credentials. */
    public UserSession(Credentials credentials) {
        this.credentials = credentials;
    }

    // region delayed
    /** Opens a session and returns its token. Empty if the user has a session, or if the password is wrong. */
    @Handler
    public Optional<String> login(ObjectContext ctx, String password) {
        boolean active = ctx.get(SESSION).filter(session -> !session.expired()).isPresent();
        if (active || !ctx.step("verify", () -> credentials.match(ctx.key(), password))) {
            return Optional.empty();
        }
        String token = ctx.uuid().toString();
        ctx.set(SESSION, new Session(token, ctx.now(), false));
        ctx.object(UserSession.class, ctx.key()).send(UserSession::expire, token, after(LENGTH));
        return Optional.of(token);
    }

    /** Called with a delay by {@code login}. The token tells whether the user has opened another session since. */
    @Handler
    public void expire(ObjectContext ctx, String token) {
        ctx.get(SESSION)
                .filter(session -> session.token().equals(token))
                .ifPresent(session -> ctx.set(SESSION, new Session(token, session.since(), true)));
    }
    // endregion

    /** Ends the session. */
    @Handler
    public void logout(ObjectContext ctx) {
        ctx.clear(SESSION);
    }

    /** The session, if there is one. */
    @Handler
    public Optional<Session> current(SharedObjectContext ctx) {
        return ctx.get(SESSION);
    }

    /** The passwords of the users. */
    @FunctionalInterface
    public interface Credentials {
        /** Whether this is the password of the user. */
        boolean match(String user, String password);
    }
}
