package dev.perdure.postgres.write;

import dev.perdure.postgres.hint.PostgresHints;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.jdbc.Script;
import dev.perdure.postgres.lane.Sender;
import dev.perdure.postgres.queue.PostgresQueues;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.postgres.write.part.ReadBack;
import dev.perdure.postgres.write.part.Sending;
import java.util.List;

/** What all plans of a store share. */
public record WriteContext(
        Database database,
        LedgerSql sql,
        Script script,
        ReadBack readBack,
        PostgresHints hints,
        Beliefs beliefs,
        PostgresQueues queues) {
    Sending by(Sender sender) {
        return new Sending(sender, database.time(), queues.limited());
    }

    /** Sends parts as one transaction. */
    void send(List<Part> parts) {
        database.call(connection -> {
            script.send(connection, parts);
            return null;
        });
    }
}
