package dev.perdure.spi.shard;

import dev.perdure.RunFilter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The runs of a store that a filter selects.
 *
 * @param filter the filter
 * @param origins the runs that the filter names, if they may be on other shards; null if the store finds them by their ids
 */
public record RunSelection(RunFilter filter, @Nullable Origins origins) {
    /** A selection in a store that has all runs. */
    public RunSelection(RunFilter filter) {
        this(filter, null);
    }

    /** The same with another filter, which names the same runs. */
    public RunSelection with(RunFilter other) {
        return new RunSelection(other, origins);
    }

    /**
     * The runs that a filter names, by their keys, which are those of all shards.
     *
     * @param parent the run whose children and tasks are selected; 0 if there is none
     * @param schedule the schedule whose runs are selected; 0 if there is none
     * @param roots the runs of this store with which the parts of the selected tree begin that are here: its root, and
     *     children of runs of other shards
     */
    public record Origins(long parent, long schedule, List<Long> roots) {
        /** Copies the list. */
        public Origins {
            roots = List.copyOf(roots);
        }
    }
}
