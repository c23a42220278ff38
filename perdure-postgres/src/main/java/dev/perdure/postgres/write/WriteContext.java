package dev.perdure.postgres.write;

import dev.perdure.postgres.hint.PostgresHints;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.jdbc.Script;
import dev.perdure.postgres.lane.Sender;
import dev.perdure.postgres.lane.Sending;
import dev.perdure.postgres.queue.PostgresQueues;
import dev.perdure.postgres.reaction.ReactionParts;
import dev.perdure.postgres.reaction.TouchedRuns;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.postgres.write.part.ReadBack;
import dev.perdure.spi.Hints;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What all plans of a store share. */
public record WriteContext(
        Database database,
        LedgerSql sql,
        Script script,
        ReadBack readBack,
        PostgresHints hints,
        Beliefs beliefs,
        PostgresQueues queues,
        @Nullable Connection transaction) {
    /** What plans share that send transactions of their own. */
    public WriteContext(
            Database database,
            LedgerSql sql,
            Script script,
            ReadBack readBack,
            PostgresHints hints,
            Beliefs beliefs,
            PostgresQueues queues) {
        this(database, sql, script, readBack, hints, beliefs, queues, null);
    }

    /** A statement inside a transaction failed, and with it the transaction. */
    static final class InsideException extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final SQLException problem;

        InsideException(SQLException problem) {
            super(problem);
            this.problem = problem;
        }

        SQLException problem() {
            return problem;
        }
    }

    Sending by(Sender sender) {
        return new Sending(sender, database.time(), queues.limited());
    }

    /**
     * The part that requests the runs of reactions to what a batch has done to these runs. It comes after all parts that
     * change runs, and before one that returns texts: the driver may send such a part in a transaction of its own.
     */
    Part react(TouchedRuns touched) {
        return ReactionParts.react(sql.reactions, touched, database.time(), () -> hints.tell(new Hints.WorkReady()));
    }

    /** The same for parts that are sent inside this transaction. Hints are kept until it has committed. */
    WriteContext inside(Connection transaction, PostgresHints kept) {
        return new WriteContext(database, sql, script, readBack, kept, beliefs, queues, transaction);
    }

    /** Sends parts as one transaction, or inside the current one. */
    void send(List<Part> parts) {
        if (transaction != null) {
            try {
                script.send(transaction, parts);
            } catch (SQLException problem) {
                throw new InsideException(problem);
            }
            return;
        }
        database.callBriefly(connection -> {
            script.send(connection, parts);
            return null;
        });
    }
}
