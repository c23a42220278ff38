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

/** The session of a user, who can have one at a time. It ends by itself. */
@VirtualObject("session")
public final class UserSession {
    /** A session. */
    public record Session(String token, Instant since, boolean expired) {}

    private static final Duration LENGTH = Duration.ofMinutes(30);
    private static final StateKey<Session> SESSION = StateKey.of("session", Session.class);

    private final Doorkeeper doorkeeper;

    /** With whoever knows the passwords. */
    public UserSession(Doorkeeper doorkeeper) {
        this.doorkeeper = doorkeeper;
    }

    // region delayed
    /** Opens a session; empty if there is one, or if the password is wrong. */
    @Handler
    public Optional<String> login(ObjectContext ctx, String password) {
        boolean active = ctx.get(SESSION).filter(session -> !session.expired()).isPresent();
        if (active || !ctx.step("verify", () -> doorkeeper.knows(ctx.key(), password))) {
            return Optional.empty();
        }
        String token = ctx.uuid().toString();
        ctx.set(SESSION, new Session(token, ctx.now(), false));
        ctx.object(UserSession.class, ctx.key()).send(UserSession::expire, token, after(LENGTH));
        return Optional.of(token);
    }

    /** A delayed call to oneself. It is not for a session that was opened since. */
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

    /** Knows passwords. */
    @FunctionalInterface
    public interface Doorkeeper {
        /** Whether this is the user's password. */
        boolean knows(String user, String password);
    }
}
