package dev.perdure.postgres;

import dev.perdure.postgres.PostgresLedger.Sender;
import java.util.List;

/** What all plans of a store share. */
record WriteContext(
        Database database, LedgerSql sql, Script script, ReadBack readBack, PostgresHints hints, Beliefs beliefs) {
    Sending by(Sender sender) {
        return new Sending(sender, database.time());
    }

    /** Sends parts as one transaction. */
    void send(List<Part> parts) {
        database.call(connection -> {
            script.send(connection, parts);
            return null;
        });
    }
}
