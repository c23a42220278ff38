package dev.perdure.postgres.write.change;

import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Move;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What entitles a transition to an effect outside its run: its lane and, if it moves, that its worker holds the run.
 */
final class Rights {
    private Rights() {}

    /**
     * For each row, the key of the run and the epoch that must hold; nulls for rows without a transition.
     *
     * @param key the name of the column of keys
     * @param epoch the name of the column of epochs
     * @param senderOf the transition that a row belongs to
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

    /** The epoch that the run's row must have, or null if the lane is sufficient. */
    static @Nullable Long epoch(Change.Advance sender) {
        return sender.move() instanceof Move.Stay ? null : Long.valueOf(Endings.epoch(sender));
    }
}
