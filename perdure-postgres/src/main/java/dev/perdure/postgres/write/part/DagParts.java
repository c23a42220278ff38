package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.lane.Sending;
import dev.perdure.postgres.write.change.Batch;
import dev.perdure.postgres.write.change.Batch.Placed;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The parts of a batch for runs that come after other runs, and for what the worker takes over. */
public final class DagParts {
    private final DagSql sql;
    private final Sending sending;
    private final Batch batch;
    private final Answers answers;

    public DagParts(DagSql sql, Sending sending, Batch batch, Answers answers) {
        this.sql = sql;
        this.sending = sending;
        this.batch = batch;
        this.answers = answers;
    }

    public Part startTasks() {
        return new Part(sql.task, parameters -> batch.tasks.bind(parameters.time(sending.time()), sending.worker()));
    }

    public Part rerun() {
        return new Part(
                sql.rerun,
                parameters -> {
                    batch.reruns.bindRuns(parameters.time(sending.time()));
                    batch.reruns.bindTasks(sending.laneOfWorker(parameters));
                },
                results -> readReruns(results.next()));
    }

    private void readReruns(ResultSet rows) throws SQLException {
        if (answers.fenced) {
            answers.fence(batch.reruns.all);
            return;
        }
        batch.reruns.read(rows, answers.outcomes);
    }

    /** Lets runs begin that come after runs that end. */
    public Part open() {
        long[] keys = batch.ends.openingKeys();
        int[] takes = batch.ends.takes();
        String[] ids = batch.endingIds();
        Part.Reading reading = results -> readOpened(results.next());
        return ids.length == 0
                ? open(sql, sending, keys, takes, reading)
                : new Part(
                        sql.openAll,
                        parameters -> {
                            parameters
                                    .time(sending.time())
                                    .longs(keys)
                                    .ints(takes)
                                    .texts(ids);
                            bindTaker(parameters.texts(batch.passedOnIds()), sending);
                        },
                        reading);
    }

    /**
     * The same for runs that end, by their keys alone.
     *
     * @param takes how many of the runs that come after it the worker takes over, for each key
     */
    public static Part open(DagSql sql, Sending sending, long[] keys, int[] takes, Part.Reading reading) {
        return new Part(
                sql.open,
                parameters ->
                        bindTaker(parameters.time(sending.time()).longs(keys).ints(takes), sending),
                reading);
    }

    private static void bindTaker(Parameters parameters, Sending sending) throws SQLException {
        sending.laneOfWorker(parameters).texts(sending.limited()).integer(sending.worker());
        parameters.integer(sending.worker()).integer(sending.worker());
    }

    private void readOpened(ResultSet rows) throws SQLException {
        while (rows.next()) {
            long key = rows.getLong("key");
            Long premise = rows.getObject("premise", Long.class);
            if (premise == null) {
                answers.hints.add(new Hints.WorkReady());
            } else {
                answers.handed
                        .computeIfAbsent(premise, none -> new ArrayList<>())
                        .add(key);
            }
        }
    }

    /** Reads the runs that the worker takes over, if ended runs held virtual objects. */
    public Part handed() {
        return new Part(
                sql.handed,
                parameters -> parameters
                        .longs(batch.ends.takingTasks())
                        .longs(batch.ends.takingHolders())
                        .ints(batch.ends.takesOfTakingHolders())
                        .integer(sending.worker()),
                results -> handOver(Claims.read(results.next())));
    }

    /** The same if only tasks end. */
    public Part handedTasks() {
        return new Part(
                sql.handedTasks,
                parameters -> parameters.longs(batch.ends.takingKeys()).integer(sending.worker()),
                results -> handOver(Claims.read(results.next())));
    }

    private void handOver(Map<Long, Claimed> claims) {
        for (Placed<Change.Advance> move : batch.moves) {
            List<Claimed> handed = claimed(answers.handed, move, claims);
            if (!handed.isEmpty() && answers.outcomes[move.index()] instanceof Outcome.Applied applied) {
                List<Claimed> next = claimed(answers.next, move, claims);
                answers.outcomes[move.index()] = new Outcome.Applied(applied.at(), applied.state(), handed, next);
            }
        }
    }

    private static List<Claimed> claimed(
            Map<Long, List<Long>> keysByEnded, Placed<Change.Advance> move, Map<Long, Claimed> claims) {
        return keysByEnded.getOrDefault(move.change().run().key(), List.of()).stream()
                .map(claims::get)
                .filter(Objects::nonNull)
                .toList();
    }
}
