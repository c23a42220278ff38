package dev.perdure.torture.work;

import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.torture.setup.OutsideLedger;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Work of one kind. Its pieces have numbers, and their runs have ids that begin with its name and the number. */
public interface Workload {
    /** What a body has at hand. */
    record Parts(PostgresStore store, OutsideLedger ledger) {}

    /** One word. */
    String name();

    /** Lets a worker know its workflows, and the queues they need. */
    void register(PerdureBuilder worker, Parts parts);

    /** Creates the tables that its bodies write. */
    default void prepare(Connection connection) throws SQLException {}

    /** Starts a piece. If that fails, the same piece is started again: what it started before is not started twice. */
    void start(Perdure client, Parts parts, int number);

    /** What does not hold now that all pieces have ended, one sentence each. */
    List<String> violations(Seen seen) throws SQLException;

    /** Whether this run, which a piece has started, may end {@code FAILED}. */
    default boolean mayFail(String run) {
        return false;
    }

    /** Whether this run of it may end {@code CANCELLED}; all others complete. */
    default boolean mayBeCancelled(String run) {
        return false;
    }
}
