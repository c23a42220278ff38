package dev.perdure.postgres;

import dev.perdure.spi.Transacted;
import java.sql.SQLException;
import java.util.Optional;
import java.util.stream.Stream;

/** What exceptions from the bodies and commits of transaction steps mean, however deep a library has wrapped them. */
final class SqlTrouble {
    private SqlTrouble() {}

    private static Stream<SQLException> said(Throwable thrown) {
        return Stream.iterate(thrown, cause -> cause != null, Throwable::getCause)
                .filter(cause -> cause instanceof SQLException said && said.getSQLState() != null)
                .map(SQLException.class::cast);
    }

    /** Whether the database said this. */
    static boolean isState(Throwable thrown, String state) {
        return said(thrown).anyMatch(said -> state.equals(said.getSQLState()));
    }

    /** Whether the connection was lost. */
    static boolean isLost(Throwable thrown) {
        return said(thrown).anyMatch(said -> SqlState.of(said) == SqlState.RECONNECT);
    }

    /** A transaction that lost against others. */
    static Optional<Transacted> conflict(Throwable thrown) {
        return said(thrown)
                .filter(said ->
                        said.getSQLState().equals("40001") || said.getSQLState().equals("40P01"))
                .<Transacted>map(Transacted.Conflict::new)
                .findFirst();
    }

    /**
     * What an exception from a body means; empty if it is the body's own failure.
     *
     * @param broken whether the body's connection was lost: another one may be lost without being ours to mend
     */
    static Optional<Transacted> fromBody(Throwable thrown, boolean broken) {
        Optional<Transacted> conflict = conflict(thrown);
        if (conflict.isPresent() || !broken) {
            return conflict;
        }
        return said(thrown)
                .filter(said -> SqlState.of(said) == SqlState.RECONNECT)
                .<Transacted>map(Transacted.Unavailable::new)
                .findFirst();
    }
}
