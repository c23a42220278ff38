package dev.perdure.postgres;

import dev.perdure.spi.Change;
import dev.perdure.spi.Move;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What gives a transition the right to do something beyond its run: its lane and, if it moves, that it holds the run. */
final class Rights {
    private Rights() {}

    /** Binds, for each, the key of the run and the epoch to be held, or nulls for what nobody's transition asked for. */
    static <T> void bind(Parameters parameters, List<T> wants, Function<T, Change.@Nullable Advance> senderOf)
            throws SQLException {
        @Nullable Long[] keys = new Long[wants.size()];
        @Nullable Long[] epochs = new Long[wants.size()];
        for (int i = 0; i < keys.length; i++) {
            Change.Advance sender = senderOf.apply(wants.get(i));
            keys[i] = sender == null ? null : Long.valueOf(sender.run().key());
            epochs[i] = sender == null ? null : epoch(sender);
        }
        parameters.longs(keys).longs(epochs);
    }

    /** The epoch that is looked for on the run's row, or null where the lane says it all. */
    static @Nullable Long epoch(Change.Advance sender) {
        return sender.move() instanceof Move.Stay ? null : Long.valueOf(Endings.epoch(sender));
    }
}
