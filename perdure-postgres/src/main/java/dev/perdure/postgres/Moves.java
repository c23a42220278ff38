package dev.perdure.postgres;

import dev.perdure.RunState;
import dev.perdure.postgres.Batch.Placed;
import dev.perdure.spi.Change;
import dev.perdure.spi.Move;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Transitions as the columns of the statements that make them. */
final class Moves {
    private Moves() {}

    static long[] keys(List<Placed<Change.Advance>> advances) {
        return advances.stream()
                .mapToLong(placed -> placed.change().run().key())
                .toArray();
    }

    static void bind(List<Placed<Change.Advance>> moves, Parameters parameters, @Nullable Integer worker)
            throws SQLException {
        int count = moves.size();
        long[] epochs = new long[count];
        @Nullable Integer[] owners = new Integer[count];
        short[] kinds = new short[count];
        short[] states = new short[count];
        @Nullable Integer[] seen = new Integer[count];
        @Nullable String[] reasons = new String[count];
        WaitColumns waits = new WaitColumns(count);
        for (int i = 0; i < count; i++) {
            Change.Advance advance = moves.get(i).change();
            epochs[i] = Endings.epoch(advance);
            owners[i] = worker;
            switch (advance.move()) {
                case Move.Stay() -> throw new IllegalStateException("To stay is not to move.");
                case Move.Restart restart -> throw new IllegalStateException("A restart has a statement of its own.");
                case Move.Arrive() -> throw new IllegalStateException("An arrival has a statement of its own.");
                case Move.Wait wait -> {
                    kinds[i] = Codes.WAIT;
                    states[i] = Codes.of(wait.state());
                    seen[i] = wait.seenWakes();
                    waits.set(i, wait);
                }
                case Move.Yield() -> {
                    kinds[i] = Codes.YIELD;
                    states[i] = Codes.of(RunState.READY);
                }
                case Move.Recover recover -> {
                    kinds[i] = Codes.RECOVER;
                    reasons[i] = Text.storable(recover.reason());
                }
                case Move.Pause pause -> {
                    kinds[i] = Codes.PAUSE;
                    states[i] = Codes.of(RunState.PAUSED);
                    seen[i] = pause.seenWakes();
                    reasons[i] = Text.storable(pause.reason());
                }
                case Move.End end -> {
                    kinds[i] = Codes.END;
                    states[i] = Codes.of(end.state());
                    reasons[i] = Text.storableOrNull(end.reason());
                }
            }
        }
        parameters.longs(keys(moves)).longs(epochs).ints(owners).shorts(kinds).shorts(states);
        waits.bindDue(parameters).ints(seen).texts(reasons);
        waits.bindAwaited(parameters);
    }

    static void bindEnds(List<Placed<Change.Advance>> moves, Parameters parameters) throws SQLException {
        int count = moves.size();
        long[] epochs = new long[count];
        short[] states = new short[count];
        @Nullable String[] reasons = new String[count];
        for (int i = 0; i < count; i++) {
            Change.Advance advance = moves.get(i).change();
            epochs[i] = Endings.epoch(advance);
            if (advance.move() instanceof Move.End end) {
                states[i] = Codes.of(end.state());
                reasons[i] = Text.storableOrNull(end.reason());
            }
        }
        parameters.longs(keys(moves)).longs(epochs).shorts(states).texts(reasons);
    }

    static void bindRestarts(List<Placed<Change.Advance>> restarts, Parameters parameters) throws SQLException {
        int count = restarts.size();
        long[] epochs = new long[count];
        long[] seeds = new long[count];
        byte[][] inputs = new byte[count][];
        for (int i = 0; i < count; i++) {
            Change.Advance advance = restarts.get(i).change();
            epochs[i] = advance.epoch();
            if (advance.move() instanceof Move.Restart restart) {
                seeds[i] = restart.seed();
                inputs[i] = restart.input().bytes();
            }
        }
        parameters.longs(keys(restarts)).longs(epochs).longs(seeds).bytes(inputs);
    }
}
