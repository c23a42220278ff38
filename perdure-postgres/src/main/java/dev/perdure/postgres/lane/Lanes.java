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
 * <p>How it works: while answers come, lane 3 of a worker is row 3. A request whose answer never came may still be
 * carried out: the network may deliver it after the client has given it up. So its lane is in doubt. Before the store
 * sends anything else on the lane, it deletes the row and inserts another. The delete waits for a copy that the server
 * is carrying out, and a copy that arrives later finds no lane and does nothing. A row number is never used twice, so
 * the deletion itself may be sent again, or arrive late, without harm.
 *
 * <p>A worker sends one request at a time on a lane, but several callers share the lane for commands of clients. So a
 * doubt is about a row and not about a lane: a caller that replaces a row removes only the doubt about that one.
 */
public final class Lanes {
    /** The lane of polls. Like the others, it is created when a worker joins. */
    public static final int POLL = -1;

    /** The distance between the row numbers of one lane: more than a worker has lanes. */
    private static final int STRIDE = 128;

    private final Database database;
    private final LeaseSql sql;
    /** Rows of lanes with a request that was not answered. A row that has been replaced is no longer in doubt. */
    private final Set<DoubtfulRow> inDoubt = ConcurrentHashMap.newKeySet();
    /** How often each lane was replaced, without the lanes that never were. */
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
     * The row for the next request on this lane. When this returns, an unanswered earlier request can no longer take
     * effect.
     */
    public int row(int worker, int lane) {
        if (inDoubt.isEmpty() && replacements.isEmpty()) {
            return lane; // the hot path: nothing has ever failed
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
     * A request failed. If it is unknown whether it was carried out, the row on which it was sent is in doubt.
     *
     * @param row the row that {@link #row} returned for that request
     */
    public void failed(int worker, int row, Throwable failure) {
        if (Database.isUnanswered(failure)) {
            inDoubt.add(new DoubtfulRow(worker, row));
        }
    }

    /** Replaces a lane. A worker without lanes is dead, and gets none. */
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
