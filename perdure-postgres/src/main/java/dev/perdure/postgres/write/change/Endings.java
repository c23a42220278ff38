package dev.perdure.postgres.write.change;

import dev.perdure.RunId;
import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.write.change.Batch.Placed;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongPredicate;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The moves of a batch that may end runs, and the runs that this concerns. The keys show that, so nothing has to be
 * looked up.
 */
public final class Endings {
    public static final Columns<Change.Advance> FOLLOWING = Columns.<Change.Advance>of()
            .bigint("key", advance -> advance.run().key())
            .bigint("epoch", Endings::epoch)
            .bigintOrNull("follows", advance -> {
                RunRef before = follower(advance);
                return before == null ? null : Long.valueOf(before.key());
            });

    private final List<Placed<Change.Advance>> moves;

    Endings(List<Placed<Change.Advance>> moves) {
        this.moves = moves;
    }

    /** The keys of runs for whose outcomes other runs wait. */
    public long[] answeringKeys() {
        return ending(Keys::answers).mapToLong(advance -> advance.run().key()).toArray();
    }

    private Stream<Change.Advance> ending(LongPredicate keys) {
        return moves.stream()
                .map(Placed::change)
                .filter(advance -> keys.test(advance.run().key()))
                .filter(advance -> advance.move() instanceof Move.End || advance.move() instanceof Move.Recover);
    }

    /** The keys of runs that hold a virtual object. */
    public long[] holdingKeys() {
        return ending(Keys::holds).mapToLong(advance -> advance.run().key()).toArray();
    }

    Map<RunId, Change.Advance> holders() {
        return ending(Keys::holds)
                .filter(advance -> advance.move() instanceof Move.End)
                .collect(Collectors.toMap(advance -> advance.run().id(), Function.identity()));
    }

    /** How many of the waiting calls the worker takes over, for each of {@link #holdingKeys}. */
    public int[] takesOfHolders() {
        return takes(Keys::holds);
    }

    /** Whether calls of virtual objects end ahead of their turns. */
    public boolean follows() {
        return ending(Keys::holds).anyMatch(Endings::follows);
    }

    private static boolean follows(Change.Advance advance) {
        return follower(advance) != null;
    }

    private static @Nullable RunRef follower(Change.Advance advance) {
        return advance.move() instanceof Move.End end ? end.follows() : null;
    }

    /**
     * The epoch of the run in this batch. A call that is taken over in this batch, to end ahead of its turn, skips an
     * epoch. So it is never confused with a call that had its turn, and that may have begun from another state.
     */
    public static long epoch(Change.Advance advance) {
        return follows(advance) ? advance.epoch() + 1 : advance.epoch();
    }

    /** Those of {@link #holdingKeys} that end, and the calls that they follow if they end ahead of their turns. */
    public void bindFollowing(Parameters parameters) throws SQLException {
        FOLLOWING.bind(
                parameters,
                ending(Keys::holds)
                        .filter(advance -> advance.move() instanceof Move.End)
                        .toList());
    }

    /** The keys of runs that other runs come after. */
    public long[] openingKeys() {
        return ending(Keys::precedes).mapToLong(advance -> advance.run().key()).toArray();
    }

    /** How many of the runs that come after it the worker takes over, for each of {@link #openingKeys}. */
    public int[] takes() {
        return takes(Keys::precedes);
    }

    private int[] takes(LongPredicate keys) {
        return ending(keys).mapToInt(Endings::takes).toArray();
    }

    /** Those of {@link #openingKeys} and {@link #holdingKeys} after which the worker takes over runs. */
    public long[] takingKeys() {
        return taking().mapToLong(advance -> advance.run().key()).toArray();
    }

    /** Those of them that other runs come after. */
    public long[] takingTasks() {
        return LongStream.of(takingKeys()).filter(Keys::precedes).toArray();
    }

    /** Those of them that held an object. */
    public long[] takingHolders() {
        return LongStream.of(takingKeys()).filter(Keys::holds).toArray();
    }

    /** How many the worker takes over, for each of {@link #takingHolders}. */
    public int[] takesOfTakingHolders() {
        return taking().filter(advance -> Keys.holds(advance.run().key()))
                .mapToInt(Endings::takes)
                .toArray();
    }

    private Stream<Change.Advance> taking() {
        return ending(key -> Keys.precedes(key) || Keys.holds(key)).filter(advance -> takes(advance) > 0);
    }

    private static int takes(Change.Advance advance) {
        return advance.move() instanceof Move.End end ? end.takes() : 0;
    }
}
