package dev.perdure.postgres.work;

import dev.perdure.RunChange;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.error.StoreException;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.report.EngineLog;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Cancels runs that have not begun in time.
 *
 * <p>How it works: a poll that sees due limits reads them, sends a command for each run that has not begun, and deletes
 * the limits. The command decides under the lock of the run, so if a claim and an expiry compete, the first wins, and
 * if several workers send the command, one of them changes the run. If the process dies before the limits are deleted,
 * the next poll of any worker finds them again and changes nothing.
 */
public final class StartLimits {
    private static final Logger LOG = EngineLog.of("dev.perdure.store");

    private final Database database;
    private final StartLimitSql sql;
    private final Ledger ledger;

    public StartLimits(Database database, Schema schema, Ledger ledger) {
        this.database = database;
        this.sql = new StartLimitSql(schema);
        this.ledger = ledger;
    }

    /**
     * A limit that is due.
     *
     * @param expiry what happens to its run; null if the run has begun, is gone, or cannot be read
     */
    private record Due(long key, @Nullable RunChange expiry) {}

    private static Change command(RunChange expiry) {
        return new Change.Command(
                expiry.runId(), Change.CommandKind.EXPIRE, expiry.reason().orElseThrow());
    }

    /** Cancels the runs whose limits are due. Returns those that it has cancelled. */
    List<RunChange> expire() {
        List<RunChange> expired = new ArrayList<>();
        try {
            List<Due> due = due();
            List<RunChange> waiting = new ArrayList<>();
            for (Due each : due) {
                RunChange expiry = each.expiry();
                if (expiry != null) {
                    waiting.add(expiry);
                }
            }
            List<Outcome> outcomes = waiting.isEmpty()
                    ? List.of()
                    : ledger.apply(
                            Lane.client(0),
                            waiting.stream().map(StartLimits::command).toList());
            for (int i = 0; i < outcomes.size(); i++) {
                if (outcomes.get(i) instanceof Outcome.Commanded commanded && commanded.changed()) {
                    expired.add(waiting.get(i));
                }
            }
            delete(due.stream().mapToLong(Due::key).toArray());
        } catch (StoreException later) {
            LOG.debug("Could not cancel all runs that did not begin in time; the next poll tries again.", later);
        }
        return expired;
    }

    private List<Due> due() {
        return new Query(database).all(sql.due, parameters -> parameters.time(database.time()), row -> {
            if (row.getBoolean("begun")) {
                return new Due(row.getLong("key"), null);
            }
            return new Due(row.getLong("key"), database.unreadable().read(row, StartLimits::expiry));
        });
    }

    private static RunChange expiry(ResultSet row) throws SQLException {
        Duration within = Duration.of(row.getLong("within"), ChronoUnit.MICROS);
        return new RunChange(
                RunId.of(row.getString("id")),
                row.getString("definition"),
                RunState.CANCELLED,
                Optional.of(Admission.expired(within, row.getString("queue"))));
    }

    private void delete(long[] keys) {
        database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.done)) {
                new Parameters(statement).time(database.time()).longs(keys);
                return statement.execute();
            }
        });
    }
}
