package dev.perdure.postgres.lane;

import dev.perdure.StoreException;
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
 * <p>A lane carries one request at a time, as {@link dev.perdure.spi.Lane} says; different lanes are in doubt independently.
 */
public final class Lanes {
    /** The lane of polls. Like the others it is made when a worker joins. */
    public static final int POLL = -1;

    /** Row numbers of one lane are so far apart: more than a worker has lanes. */
    private static final int STRIDE = 128;

    private final Database database;
    private final LeaseSql sql;
    private final Set<Place> inDoubt = ConcurrentHashMap.newKeySet();
    /** How often a lane was replaced; those that never were are not here. */
    private final Map<Place, Integer> replacements = new ConcurrentHashMap<>();

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
        if (inDoubt.contains(place)) {
            replace(worker, place.row(replaced), place.row(replaced + 1));
            replaced++;
            replacements.put(place, replaced);
            inDoubt.remove(place);
        }
        return place.row(replaced);
    }

    /** The last request on this lane failed. If that leaves open whether it was carried out, the lane is in doubt. */
    public void failed(int worker, int lane, Throwable failure) {
        if (Database.isUnanswered(failure)) {
            inDoubt.add(new Place(worker, lane));
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
