package dev.perdure.postgres.lane;

import dev.perdure.error.StoreException;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Database.LockedException;
import dev.perdure.postgres.jdbc.Parameters;
import java.sql.PreparedStatement;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which row of the table {@code lane} fences each lane of the workers of this store.
 *
 * <p>How it works: while answers come, lane 3 of a worker is row 3. A request whose answer never came may still be carried out:
 * the network may deliver it after the client has given it up. So its lane is in doubt, and before anything else is sent on it
 * the row is deleted and another takes its place. The delete waits for a copy that the server is carrying out, and a copy
 * that arrives later finds no lane and does nothing. A row number is never used twice; therefore the deletion itself may be sent again,
 * or arrive late, without harm.
 *
 * <p>A worker sends one request at a time on a lane, but several callers share the lane for commands of clients. So a doubt is about a row and not
 * about a lane: a caller that replaces a row removes only the doubt about that one.
 */
public final class Lanes {
    /** The lane of polls. Like the others it is made when a worker joins. */
    public static final int POLL = -1;

    /** Row numbers of one lane are so far apart: more than a worker has lanes. */
    private static final int STRIDE = 128;

    private final Database database;
    private final LeaseSql sql;
    /** Rows of lanes on which a request was not answered. A row that has been replaced is not in doubt any more. */
    private final Set<DoubtfulRow> inDoubt = ConcurrentHashMap.newKeySet();
    /** How often a lane was replaced; those that never were are not here. */
    private final Map<Place, Integer> replacements = new ConcurrentHashMap<>();

    private record DoubtfulRow(int worker, int row) {}

    private record Place(int worker, int lane) {
        int row(int replacements) {
            return replacements * STRIDE + lane;
        }
    }

    Lanes(Database database, LeaseSql sql) {
        this.database = database;
        this.sql = sql;
    }

    /**
     * The row for the next request on this lane. If the last one was not answered, it can have no effect any more when this
     * returns.
     */
    public int row(int worker, int lane) {
        if (inDoubt.isEmpty() && replacements.isEmpty()) {
            return lane; // the hot path: nothing has ever gone wrong
        }
        Place place = new Place(worker, lane);
        int replaced = replacements.getOrDefault(place, 0);
        while (inDoubt.contains(new DoubtfulRow(worker, place.row(replaced)))) {
            replace(worker, place.row(replaced), place.row(replaced + 1));
            int before = replaced;
            replaced = replacements.merge(place, before + 1, Math::max);
            inDoubt.remove(new DoubtfulRow(worker, place.row(before)));
        }
        return place.row(replaced);
    }

    /**
     * A request failed. If that leaves open whether it was carried out, the row on which it was sent is in doubt.
     *
     * @param row what {@link #row} gave for that request
     */
    public void failed(int worker, int row, Throwable failure) {
        if (Database.isUnanswered(failure)) {
            inDoubt.add(new DoubtfulRow(worker, row));
        }
    }

    /** A worker without lanes, which is dead, gets none by this. */
    private void replace(int worker, int row, int newRow) {
        try {
            database.call(connection -> {
                try (PreparedStatement statement = Database.prepare(connection, sql.replaceLane)) {
                    new Parameters(statement)
                            .text(Database.LOCK_TIMEOUT)
                            .integer(worker)
                            .integer(row)
                            .integer(newRow);
                    return statement.execute();
                }
            });
        } catch (LockedException beingCarriedOut) {
            throw new StoreException(
                    StoreException.Kind.UNAVAILABLE,
                    "A batch whose answer was lost is still being carried out; waiting for it.",
                    beingCarriedOut);
        }
    }
}
