package dev.perdure.postgres.jdbc;

import dev.perdure.postgres.write.part.OwnSql;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;

/**
 * How the store interprets an SQLSTATE: the one table. Appendix A of PostgreSQL's manual lists the states; the first
 * two characters of a state are its class.
 */
public enum SqlState {
    /** The connection is lost, or there was none. What was sent may have been applied: send it again. */
    RECONNECT,
    /** The transaction lost a conflict with another one and changed nothing: run it again at once. */
    RERUN,
    /** The server cannot work for now: it is out of space or connections, read-only, or starting up. Wait for it. */
    PAUSE,
    /** Another transaction holds a row for longer than a batch should wait. */
    LOCKED,
    /** The server stopped a statement that took too long. */
    CAPPED,
    /** Such a row exists already, or a belief of {@link OwnSql} was wrong. */
    UNFORESEEN,
    /** The server does not accept this value, now or later. */
    DATA,
    /** The set-up is wrong: rights, names, passwords. Only a person can fix it. */
    GIVE_UP;

    public static SqlState of(SQLException problem) {
        String state = problem.getSQLState();
        // Pools report that they have no free connection without a state, or with the state of the cause.
        if (state == null || state.length() < 5) {
            return RECONNECT;
        }
        return isStalePlan(problem) ? RERUN : of(state);
    }

    /**
     * Whether a prepared plan no longer fits after a migration: the driver then drops it and prepares the statement
     * again. The state is the general one for unsupported features, and the message is in the server's language, so
     * only the place that reports it distinguishes this case.
     */
    public static boolean isStalePlan(SQLException problem) {
        return "0A000".equals(problem.getSQLState())
                && problem instanceof PSQLException said
                && said.getServerErrorMessage() != null
                && "RevalidateCachedQuery".equals(said.getServerErrorMessage().getRoutine());
    }

    /**
     * Whether the server cannot do for now what the body of a transaction step requests: it is out of space, memory or
     * connections, or a disk fails. Other states at which the engine waits are caused by the body itself: a lock that
     * it did not want to wait for, or a limit that its query exceeds.
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
            // The driver's state for credentials that it could not even offer.
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

    /** Whether the server found a damaged row, page or index: only statements that touch it fail. */
    public static boolean tellsOfDamage(SQLException problem) {
        String state = problem.getSQLState();
        return state != null && state.startsWith("XX");
    }

    /** Whether the constraint that keeps changes away from partitions of other shards refused something. */
    public static boolean isOfClosedPartition(Throwable refused) {
        return refused.getCause() instanceof SQLException cause && isOfClosedPartition(cause);
    }

    /** The same of what the server has said. */
    public static boolean isOfClosedPartition(SQLException refused) {
        return refused instanceof PSQLException said
                && said.getServerErrorMessage() != null
                && "partition_is_here".equals(said.getServerErrorMessage().getConstraint());
    }

    /** What a person can do about a state that needs a person. */
    public static String remedy(@Nullable String state) {
        return switch (state == null ? "" : state) {
            case "08004", "28000", "28P01" -> "Check user and password of the DataSource, and pg_hba.conf.";
            case "3D000" -> "The database does not exist: create it, or correct the name in the DataSource.";
            case "42501" ->
                "The role lacks rights: let the owner migrate and grant them with the roles.sql of this library.";
            case "42P01", "42703", "42883", "3F000" ->
                "The schema is not there or not complete: migrate it, or correct its name.";
            case "0A000" ->
                "The server does not support a statement of Perdure. Use a plain PostgreSQL: an extension or a compatible server may not support everything.";
            case "26000", "42P05" ->
                "A pooler mixes up prepared statements: set its max_prepared_statements, or add prepareThreshold=0 to the driver's URL.";
            default -> "See PostgreSQL's message; only a person can fix this.";
        };
    }
}
