package dev.perdure.postgres.write.change;

import dev.perdure.RunState;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Micros;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Text;
import dev.perdure.postgres.write.change.Batch.Placed;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Move;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Transitions as columns of the statements that apply them. */
public final class Moves {
    /** The run that ends, its epoch, and its final state. */
    public static final Columns<Change.Advance> ENDS = Columns.<Change.Advance>of()
            .bigint("key", advance -> advance.run().key())
            .bigint("epoch", Endings::epoch)
            .smallint("state", advance -> Codes.of(endOf(advance).state()))
            .text("reason", advance -> Text.storableOrNull(endOf(advance).reason()));

    /** The outcomes of runs that end. */
    public static final Columns<Change.Advance> OUTCOMES = Columns.<Change.Advance>of()
            .bigint("key", advance -> advance.run().key())
            .bytes("payload", advance -> endOf(advance).outcome().bytes());

    public static final Columns<Change.Advance> RESTARTS = Columns.<Change.Advance>of()
            .bigint("key", advance -> advance.run().key())
            .bigint("epoch", Change.Advance::epoch)
            .bigint("seed", advance -> restartOf(advance).seed())
            .bool("unpinned", advance -> restartOf(advance).unpinned())
            .text("definition", advance -> restartOf(advance).definition())
            .bytes("input", advance -> restartOf(advance).input().bytes());

    /** What runs wait for, and until when. Empty for a run that does not wait. */
    private static final Columns<Row> WAITING = Columns.<Row>of()
            .bigintOrNull(
                    "delay",
                    ofWait(wait -> wait.due() instanceof Due.In in ? Long.valueOf(Micros.of(in.delay())) : null))
            .bigintOrNull(
                    "due", ofWait(wait -> wait.due() instanceof Due.At at ? Long.valueOf(Micros.of(at.time())) : null))
            .integerOrNull("needed", ofWait(wait -> wait.awaited().needed()))
            .text("awaited", ofWait(wait -> AwaitedText.positions(wait.awaited())))
            .text("awaited_names", ofWait(wait -> AwaitedText.names(wait.awaited())));

    private static <T> Function<Row, @Nullable T> ofWait(Function<Move.Wait, @Nullable T> value) {
        return row -> row.waiting() == null ? null : value.apply(row.waiting());
    }

    /** Waits of runs that the worker holds. */
    public static final Columns<Row> WAITS = Columns.<Row>of()
            .bigint("key", Row::key)
            .bigint("epoch", Row::epoch)
            .smallint("state", Row::state)
            .integerOrNull("seen", Row::seen)
            .with(WAITING);

    /** Moves of any kind. */
    public static final Columns<Row> COLUMNS = Columns.<Row>of()
            .bigint("key", Row::key)
            .bigint("epoch", Row::epoch)
            .integerOrNull("owner", Row::owner)
            .smallint("move", Row::move)
            .smallint("state", Row::state)
            .integerOrNull("seen", Row::seen)
            .text("reason", Row::reason)
            .with(WAITING);

    private Moves() {}

    /**
     * A run that leaves its worker.
     *
     * @param owner the worker that holds it
     * @param move the kind of move
     * @param state its new state
     * @param seen how many wake-ups its worker has seen, or null if they do not matter
     * @param waiting what it waits for, or null if it does not
     */
    public record Row(
            long key,
            long epoch,
            @Nullable Integer owner,
            short move,
            short state,
            @Nullable Integer seen,
            @Nullable String reason,
            Move.@Nullable Wait waiting) {
        public static Row of(Change.Advance advance, @Nullable Integer owner) {
            long key = advance.run().key();
            long epoch = Endings.epoch(advance);
            return switch (advance.move()) {
                case Move.Stay() -> throw new IllegalStateException("To stay is not to move.");
                case Move.Restart restart -> throw new IllegalStateException("A restart has a statement of its own.");
                case Move.Arrive() -> throw new IllegalStateException("An arrival has a statement of its own.");
                case Move.Wait wait ->
                    new Row(key, epoch, owner, Codes.WAIT, Codes.of(wait.state()), wait.seenWakes(), null, wait);
                case Move.Yield() ->
                    new Row(key, epoch, owner, Codes.YIELD, Codes.of(RunState.READY), null, null, null);
                case Move.Recover recover -> recovery(key, epoch, owner, Text.storable(recover.reason()));
                case Move.Pause pause ->
                    new Row(
                            key,
                            epoch,
                            owner,
                            Codes.PAUSE,
                            Codes.of(RunState.PAUSED),
                            pause.seenWakes(),
                            Text.storable(pause.reason()),
                            null);
                case Move.End end ->
                    new Row(
                            key,
                            epoch,
                            owner,
                            Codes.END,
                            Codes.of(end.state()),
                            null,
                            Text.storableOrNull(end.reason()),
                            null);
            };
        }

        /** The statement decides on the new state of a recovered run. */
        public static Row recovery(long key, long epoch, @Nullable Integer owner, String reason) {
            return new Row(key, epoch, owner, Codes.RECOVER, (short) 0, null, reason, null);
        }
    }

    private static Move.End endOf(Change.Advance advance) {
        return (Move.End) advance.move();
    }

    private static Move.Restart restartOf(Change.Advance advance) {
        return (Move.Restart) advance.move();
    }

    public static long[] keys(List<Placed<Change.Advance>> advances) {
        return advances.stream()
                .mapToLong(placed -> placed.change().run().key())
                .toArray();
    }

    public static void bind(List<Placed<Change.Advance>> moves, Parameters parameters, @Nullable Integer worker)
            throws SQLException {
        COLUMNS.bind(
                parameters,
                moves.stream().map(move -> Row.of(move.change(), worker)).toList());
    }
}
