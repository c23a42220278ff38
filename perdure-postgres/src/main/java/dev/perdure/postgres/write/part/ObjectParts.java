package dev.perdure.postgres.write.part;

import dev.perdure.RunState;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.lane.Sending;
import dev.perdure.postgres.write.change.Batch;
import dev.perdure.postgres.write.change.Batch.Placed;
import dev.perdure.postgres.write.change.BatchObjects;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The parts of a batch for virtual objects. */
public final class ObjectParts {
    private final LedgerSql sql;
    private final Sending sending;
    private final Batch batch;
    private final Answers answers;

    public ObjectParts(LedgerSql sql, Sending sending, Batch batch, Answers answers) {
        this.sql = sql;
        this.sending = sending;
        this.batch = batch;
        this.answers = answers;
    }

    /** Makes sure that every called object has a row. */
    public Part make() {
        return new Part(sql.objects.make, parameters -> {
            batch.objects.bindMade(sending.lane(parameters));
            parameters.integer(sending.worker());
        });
    }

    public Part lock() {
        return new Part(sql.objects.lock, parameters -> {
            batch.objects.bindClaimed(sending.lane(parameters));
            parameters.longs(batch.lockedHolders()).texts(batch.commandedIds());
            parameters.integer(sending.worker());
        });
    }

    /** Gives calls their places. */
    public Part enter() {
        return new Part(
                sql.objects.enter,
                parameters -> {
                    batch.objects.bindEntering(parameters.time(sending.time()).integer(sending.worker()));
                    sending.laneOfWorker(parameters);
                },
                results -> readEntered(results.next()));
    }

    /** Calls that wait for their turn do not start as running, even if it was requested. */
    private void readEntered(ResultSet rows) throws SQLException {
        Map<Long, Placed<Change.Start>> starts = new HashMap<>();
        batch.births.all.stream()
                .filter(birth -> birth.asked() != null)
                .forEach(birth -> starts.put(birth.key(), Objects.requireNonNull(birth.asked())));
        answers.fence(batch.objects.arrivals);
        Map<Long, Placed<Change.Advance>> arrivals = new HashMap<>();
        batch.objects.arrivals.forEach(
                arrival -> arrivals.put(arrival.change().run().key(), arrival));
        while (rows.next()) {
            long key = rows.getLong("key");
            boolean waits = rows.getBoolean("waits");
            Placed<Change.Start> start = starts.get(key);
            Placed<Change.Advance> arrival = arrivals.get(key);
            if (waits && start != null && answers.outcomes[start.index()] instanceof Outcome.Started started) {
                answers.outcomes[start.index()] = new Outcome.Started(started.run(), false, started.at());
            }
            if (arrival != null) {
                answers.outcomes[arrival.index()] = arrived(rows, arrival.change(), waits);
            }
            if (waits && rows.getBoolean("awaited")) {
                answers.waiting.add(key);
            }
        }
    }

    private static Outcome arrived(ResultSet row, Change.Advance arrival, boolean waits) throws SQLException {
        if (row.getBoolean("enters")) {
            return new Outcome.Applied(Results.time(row, "moved_at"), waits ? RunState.PENDING : RunState.RUNNING);
        }
        RunState state = Codes.state(row.getInt("state"));
        boolean before = new Answers.Found(state, row.getLong("epoch"), Results.time(row, "changed_at")).mayBe(arrival);
        return before ? new Outcome.AlreadyThere(Results.time(row, "changed_at"), state) : new Outcome.Fenced();
    }

    /** The changes of transitions to the states of objects. */
    public Part states() {
        return states(batch.objects);
    }

    /** The changes of calls that begin and end in this batch to the states of objects. */
    public Part statesOfCompleted() {
        return states(batch.completedCalls.states);
    }

    private Part states(BatchObjects objects) {
        return new Part(sql.objects.state, parameters -> {
            objects.bindActing(parameters);
            objects.bindValues(sending.lane(parameters).integer(sending.worker()));
        });
    }

    /** Takes over calls that end ahead of their turns. */
    public Part follow() {
        return new Part(sql.objects.follow, parameters -> {
            batch.ends.bindFollowing(parameters.time(sending.time()));
            sending.lane(parameters)
                    .integer(sending.worker())
                    .texts(sending.limited())
                    .integer(sending.worker());
        });
    }

    /** Inserts calls that begin and end in this batch. */
    public Part completed() {
        return new Part(
                sql.completedCall.startAndEnd,
                parameters -> {
                    batch.completedCalls.bindPipelines(parameters.time(sending.time()));
                    sending.lane(parameters).longs(batch.births.keys());
                    batch.completedCalls.bindBeside(parameters);
                    batch.completedCalls.bind(parameters);
                },
                results -> batch.completedCalls.read(results.next(), answers.outcomes));
    }

    /** Passes on the objects of runs that end. */
    public Part release() {
        return release(
                sql.objects,
                sending,
                batch.ends.holdingKeys(),
                batch.ends.takesOfHolders(),
                batch.endingIds(),
                results -> readReleased(results.next()));
    }

    /**
     * The same for any runs that end.
     *
     * @param keys the runs that are given by key
     * @param takes how many of the waiting calls the worker takes over, for each of these
     * @param ids the runs that are given by id
     */
    public static Part release(
            ObjectSql sql, Sending sending, long[] keys, int[] takes, String[] ids, Part.Reading reading) {
        return new Part(
                sql.release,
                parameters -> {
                    parameters.time(sending.time()).integer(sending.worker());
                    sending.laneOfWorker(parameters.longs(keys).ints(takes).texts(ids));
                    parameters.texts(sending.limited());
                    parameters.integer(sending.worker()).integer(sending.worker());
                },
                reading);
    }

    private void readReleased(ResultSet rows) throws SQLException {
        while (rows.next()) {
            Map<Long, List<Long>> shown = rows.getBoolean("handed") ? answers.handed : answers.next;
            if (rows.getBoolean("handed") || rows.getInt("place") > 0) {
                shown.computeIfAbsent(rows.getLong("ended"), unseen -> new ArrayList<>())
                        .add(rows.getLong("key"));
            } else {
                answers.hints.add(new Hints.WorkReady());
            }
        }
    }

    /** Adds the states of the objects to the calls that hold them since this batch. */
    public Part knownStates() {
        return new Part(
                sql.objects.readAll,
                batch.objects::bindClaimed,
                results -> batch.objects.readStates(results.next(), answers.outcomes));
    }
}
