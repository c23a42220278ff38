package dev.perdure.postgres.work;

import dev.perdure.RunChange;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Database.RefusedException;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.SqlState;
import dev.perdure.postgres.jdbc.Text;
import dev.perdure.postgres.lane.Lanes;
import dev.perdure.postgres.reaction.ReactionParts;
import dev.perdure.postgres.reaction.TouchedRuns;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.report.EngineLog;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Finds the runs because of which the server refuses a poll, and pauses them, so that they delay no other run.
 *
 * <p>How it works: it tries what the poll would do with half of the runs and rolls back, and halves again, until the
 * faulty run is alone. Pausing writes only the run's own row and its place in the queue, so it succeeds where the poll
 * fails. Another worker that searches at the same time skips the rows that this one has locked, and searches again with
 * its next poll.
 */
public final class StuckRuns {
    private static final Logger LOG = EngineLog.of("dev.perdure.store");

    /** Tries some runs in an open transaction. */
    @FunctionalInterface
    private interface Trial {
        void on(Connection connection, long[] keys) throws SQLException;
    }

    private final Database database;
    private final DispatchSql sql;
    private final Lanes lanes;
    private final Placements placements;

    StuckRuns(Database database, DispatchSql sql, Lanes lanes, Placements placements) {
        this.lanes = lanes;
        this.placements = placements;
        this.database = database;
        this.sql = sql;
    }

    /** Pauses runs that the poll cannot take. Returns those that it has paused. */
    List<RunChange> setAside(Poll request, int worker) {
        List<RunChange> paused = new ArrayList<>();
        long[] due = keys(sql.due, parameters -> parameters.time(database.time()));
        find(due, (connection, keys) -> wake(connection, worker, keys), worker, paused);
        long[] queued = keys(
                sql.queued,
                parameters ->
                        suiting(parameters, request).texts(request.queues().toArray(String[]::new)));
        find(queued, (connection, keys) -> claim(connection, request, worker, keys), worker, paused);
        return paused;
    }

    @FunctionalInterface
    private interface Binding {
        void bind(Parameters parameters) throws SQLException;
    }

    private long[] keys(String query, Binding binding) {
        return database.call(connection -> {
            try (PreparedStatement statement = Database.planAnew(connection, query)) {
                binding.bind(new Parameters(statement));
                try (ResultSet rows = statement.executeQuery()) {
                    List<Long> keys = new ArrayList<>();
                    while (rows.next()) {
                        keys.add(rows.getLong("key"));
                    }
                    return keys.stream().mapToLong(Long::longValue).toArray();
                }
            }
        });
    }

    private void find(long[] keys, Trial trial, int worker, List<RunChange> paused) {
        RuntimeException refusal = keys.length == 0 ? null : refusal(keys, trial);
        if (refusal == null) {
            return;
        }
        if (keys.length == 1) {
            pause(keys[0], worker, refusal).ifPresent(paused::add);
            return;
        }
        find(Arrays.copyOf(keys, keys.length / 2), trial, worker, paused);
        find(Arrays.copyOfRange(keys, keys.length / 2, keys.length), trial, worker, paused);
    }

    /** Why the server refuses these runs, or null. */
    private @Nullable RuntimeException refusal(long[] keys, Trial trial) {
        try {
            database.inTransaction(connection -> {
                trial.on(connection, keys);
                connection.rollback();
                return true;
            });
            return null;
        } catch (RuntimeException failed) {
            if (isOfOneRow(failed)) {
                return failed;
            }
            throw failed;
        }
    }

    /** Whether a statement failed because of the rows that it read: a value, a constraint, or a damaged page. */
    static boolean isOfOneRow(RuntimeException failed) {
        return failed instanceof RefusedException
                || (failed.getCause() instanceof SQLException problem && SqlState.tellsOfDamage(problem));
    }

    private void wake(Connection connection, int worker, long[] keys) throws SQLException {
        try (PreparedStatement statement = Database.planAnew(connection, sql.wakeAmong)) {
            new Parameters(statement)
                    .text(Database.LOCK_TIMEOUT)
                    .integer(worker)
                    .integer(lane(worker))
                    .time(database.time())
                    .longs(keys);
            statement.execute();
        }
    }

    /** Claims them one by one, because runs that have to run alone would hide the others. */
    private void claim(Connection connection, Poll request, int worker, long[] keys) throws SQLException {
        claim(connection, request, worker, keys, true);
        connection.rollback();
        claim(connection, request, worker, keys, false);
    }

    private void claim(Connection connection, Poll request, int worker, long[] keys, boolean alone)
            throws SQLException {
        Watermark.Floor all = Watermark.Floor.BEGINNING;
        try (PreparedStatement statement = Database.planAnew(connection, sql.claimAmong)) {
            Parameters parameters = new Parameters(statement)
                    .text(Database.LOCK_TIMEOUT)
                    .integer(worker)
                    .integer(lane(worker))
                    .time(database.time());
            suiting(parameters, request)
                    .longs(keys)
                    .bool(alone)
                    .integer(all.rank())
                    .time(all.since())
                    .number(all.rank())
                    .bool(all.urgentToo())
                    .longs(keys)
                    .integer(alone ? 0 : keys.length)
                    .integer(alone ? 0 : keys.length)
                    .integer(worker)
                    .integer(worker);
            Suiting.bindPins(parameters, request);
            statement.execute();
        }
    }

    private Parameters suiting(Parameters parameters, Poll request) throws SQLException {
        return PostgresDispatch.suiting(
                parameters, request, request.queues().toArray(String[]::new), placements.versions(request));
    }

    private int lane(int worker) {
        return lanes.row(worker, Lanes.POLL);
    }

    private Optional<RunChange> pause(long key, int worker, RuntimeException refusal) {
        String message =
                String.valueOf(refusal.getMessage()).replaceAll("\\s+", " ").replaceFirst("\\.$", "");
        String why =
                "No worker can take it, because PostgreSQL refuses: %s. Fix the row that it names, then resume the run."
                        .formatted(message);
        Optional<RunChange> paused = database.inTransaction(connection -> {
            try (PreparedStatement statement = Database.planAnew(connection, sql.setAside)) {
                Parameters parameters = new Parameters(statement)
                        .text(Database.LOCK_TIMEOUT)
                        .integer(worker)
                        .integer(lane(worker))
                        .time(database.time())
                        .number(key)
                        .text(Text.storable(why));
                ReactionParts.bind(parameters, TouchedRuns.of(key), database.time());
                statement.execute();
                Results results = new Results(statement);
                results.skip();
                ResultSet row = results.next();
                return row.next()
                        ? Optional.of(new RunChange(
                                RunId.of(row.getString("id")),
                                row.getString("definition"),
                                RunState.PAUSED,
                                Optional.of(why)))
                        : Optional.empty();
            }
        });
        paused.ifPresent(
                change -> LOG.error("Run '{}' is PAUSED, so that it delays no other. {}", change.runId(), why));
        return paused;
    }
}
