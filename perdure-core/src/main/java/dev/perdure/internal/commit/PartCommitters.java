package dev.perdure.internal.commit;

import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.shard.Parts;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Commits changes that need no lease, with a committer for each part of the store, so that no change waits for a part that
 * it does not concern.
 */
public final class PartCommitters {
    private final Parts parts;
    private final List<Committer> clients;

    /**
     * For one engine.
     *
     * @param open whether the engine is open
     */
    public PartCommitters(Parts parts, Ledger ledger, Clockwork clockwork, BooleanSupplier open) {
        this.parts = parts;
        this.clients = parts.stores().stream()
                .map(part -> new Committer(ledger, clockwork, null, part.lanes(), open))
                .toList();
    }

    /** Commits changes of one part. */
    @FunctionalInterface
    public interface OfPart {
        List<Outcome> commitAll(int part, List<Change> changes);
    }

    /** Commits changes of one part without a lease. */
    public List<Outcome> commitAll(int part, List<Change> changes) {
        return clients.get(part).commitAll(changes);
    }

    /** Commits changes, those of each part together, and returns the outcomes in the order of the changes. */
    public List<Outcome> byPart(List<Change> changes, OfPart committing) {
        if (clients.size() == 1) {
            return committing.commitAll(0, changes);
        }
        Map<Integer, List<Integer>> places = Parts.divide(
                IntStream.range(0, changes.size()).boxed().toList(),
                place -> parts.of(changes.get(place).about()));
        if (places.size() == 1) {
            return committing.commitAll(places.keySet().iterator().next(), changes);
        }
        @Nullable Outcome[] outcomes = new Outcome[changes.size()];
        places.forEach((part, indexes) -> {
            List<Outcome> some = committing.commitAll(
                    part, indexes.stream().map(changes::get).toList());
            for (int i = 0; i < indexes.size(); i++) {
                outcomes[indexes.get(i)] = some.get(i);
            }
        });
        return Arrays.stream(outcomes).map(Objects::requireNonNull).toList();
    }
}
