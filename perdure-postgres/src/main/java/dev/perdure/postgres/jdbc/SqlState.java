package dev.perdure.postgres.jdbc;

import dev.perdure.postgres.write.part.OwnSql;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;

/**
 * What an SQLSTATE means to us: the one table. PostgreSQL's own list is Appendix A of its manual; the two characters
 * that lead a state are its class.
 */
public enum SqlState {
    /** The connection is gone, or could not be had. What was sent may have been applied: send it again. */
    RECONNECT,
    /** The transaction lost against another one and left nothing behind: run it again at once. */
    RERUN,
    /** The server cannot for now: out of space or connections, read-only, starting up. It will again. */
    PAUSE,
    /** Another transaction holds a row for longer than a batch should wait. */
    LOCKED,
    /** The server stopped a statement that took too long. */
    CAPPED,
    /** Such a row is there already, or a belief of {@link OwnSql} was wrong. */
    UNFORESEEN,
    /** The server does not accept this value, and will not the next time. */
    DATA,
    /** Set up wrongly: rights, names, passwords. Only a person can help. */
    GIVE_UP;

    public static SqlState of(SQLException problem) {
        String state = problem.getSQLState();
        // Pools report that they have no connection to give without a state, or with that of the cause.
        if (state == null || state.length() < 5) {
            return RECONNECT;
        }
        return isStalePlan(problem) ? RERUN : of(state);
    }

    /**
     * Whether a prepared plan no longer fits after a migration: the driver forgets it, and prepares anew. The state is that of
     * all that a server does not support, and the message is in the server's language; what tells is who says so.
     */
    public static boolean isStalePlan(SQLException problem) {
        return "0A000".equals(problem.getSQLState())
                && problem instanceof PSQLException said
                && said.getServerErrorMessage() != null
                && "RevalidateCachedQuery".equals(said.getServerErrorMessage().getRoutine());
    }

    /**
     * Whether the server cannot do for now what the body of a transaction step asks of it: out of space, memory or connections,
     * or a disk that fails. Other states that the engine waits at are a body's own doing: a lock that it would not wait for, a
     * limit that its query exceeds.
     */
    public static boolean isShortage(SQLException problem) {
        return switch (String.valueOf(problem.getSQLState())) {
            case "53000", "53100", "53200", "53300", "58030" -> true;
            default -> false;
        };
    }

    private static SqlState of(String state) {
        SqlState known = switch (state) {
            case "40001", "40P01" -> RERUN;
            // The driver's word for credentials that it could not even offer.
            case "08004" -> GIVE_UP;
            case "25006", "57P03" -> PAUSE;
            case "55P03" -> LOCKED;
            case "57014" -> CAPPED;
            case "23505", "22012" -> UNFORESEEN;
            default -> null;
        };
        return known != null ? known : ofClass(state.substring(0, 2));
    }

    private static SqlState ofClass(String kind) {
        return switch (kind) {
            case "08", "57" -> RECONNECT;
            case "25", "40" -> RERUN;
            case "53", "55", "58" -> PAUSE;
            case "21", "22", "23", "54" -> DATA;
            default -> GIVE_UP;
        };
    }

    /** Whether the server met a damaged row, page or index: only those that touch it fail. */
    public static boolean tellsOfDamage(SQLException problem) {
        String state = problem.getSQLState();
        return state != null && state.startsWith("XX");
    }

    /** What a person can do about a state that is theirs to mend. */
    public static String remedy(@Nullable String state) {
        return switch (state == null ? "" : state) {
            case "08004", "28000", "28P01" -> "Check user and password of the DataSource, and pg_hba.conf.";
            case "3D000" -> "The database does not exist: create it, or correct the name in the DataSource.";
            case "42501" ->
                "The role lacks rights: let the owner migrate and grant them with the roles.sql of this library.";
            case "42P01", "42703", "42883", "3F000" ->
                "The schema is not there or not complete: migrate it, or correct its name.";
            case "0A000" ->
                "The server does not support a statement of Perdure. Use a PostgreSQL that does: an extension or a server made after it may not.";
            case "26000", "42P05" ->
                "A pooler mixes up prepared statements: set its max_prepared_statements, or add prepareThreshold=0 to the driver's URL.";
            default -> "This needs a person: see PostgreSQL's message.";
        };
    }
}
