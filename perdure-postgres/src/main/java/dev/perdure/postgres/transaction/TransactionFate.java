package dev.perdure.postgres.transaction;

import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Database.RefusedException;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.spi.Transacted;
import java.sql.PreparedStatement;
import java.sql.ResultSet;

/** Finds the outcome of a transaction whose connection was lost during the commit. */
final class TransactionFate {
    private static final String STATUS = "SELECT pg_xact_status(?::text::xid8) AS status";

    private final Database database;

    TransactionFate(Database database) {
        this.database = database;
    }

    /** The outcome is unknown. If the transaction was committed, this is its record. */
    Transacted inDoubt(long number, Exception lost, Transacted ifCommitted) {
        return new Transacted.InDoubt(() -> ask(number, lost, ifCommitted));
    }

    private Transacted ask(long number, Exception lost, Transacted ifCommitted) {
        return switch (status(number)) {
            case "committed" -> ifCommitted;
            case "in progress" -> inDoubt(number, lost, ifCommitted);
            default -> new Transacted.Unavailable(lost);
        };
    }

    /** The server keeps the status of every transaction that is younger than the last freeze of all tables. */
    private String status(long number) {
        try {
            return database.call(connection -> {
                try (PreparedStatement statement = Database.prepare(connection, STATUS)) {
                    new Parameters(statement).text(Long.toString(number));
                    try (ResultSet row = statement.executeQuery()) {
                        row.next();
                        return String.valueOf(row.getString("status"));
                    }
                }
            });
        } catch (RefusedException inTheFuture) {
            return "unknown to a server that was promoted without having heard of it";
        }
    }
}
