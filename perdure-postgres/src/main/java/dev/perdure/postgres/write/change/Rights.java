package dev.perdure.postgres.write.change;

import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Move;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What gives a transition the right to do something beyond its run: its lane and, if it moves, that it holds the run. */
final class Rights {
    private Rights() {}

    /**
     * For each, the key of the run and the epoch to be held; nulls for what no transition asked for.
     *
     * @param key the name of the column of keys
     * @param epoch that of epochs
     * @param senderOf the transition that asks for a row
     */
    static <R> Columns<R> columns(String key, String epoch, Function<R, Change.@Nullable Advance> senderOf) {
        return Columns.<R>of()
                .bigintOrNull(key, row -> {
                    Change.Advance sender = senderOf.apply(row);
                    return sender == null ? null : Long.valueOf(sender.run().key());
                })
                .bigintOrNull(epoch, row -> {
                    Change.Advance sender = senderOf.apply(row);
                    return sender == null ? null : epoch(sender);
                });
    }

    /** The epoch that is looked for on the run's row, or null where the lane says it all. */
    static @Nullable Long epoch(Change.Advance sender) {
        return sender.move() instanceof Move.Stay ? null : Long.valueOf(Endings.epoch(sender));
    }
}
