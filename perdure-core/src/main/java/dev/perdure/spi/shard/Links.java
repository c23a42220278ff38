package dev.perdure.spi.shard;

import dev.perdure.spi.Runs;
import dev.perdure.spi.Runs.BelowPage;
import dev.perdure.spi.Runs.BelowPlace;
import dev.perdure.spi.Runs.TaskRow;
import dev.perdure.spi.change.RunRef;
import java.util.Collection;
import java.util.List;
import java.util.OptionalInt;

/** Lists of runs of a shard that runs of other shards have started. Runs that only report are no children. */
public interface Links {
    /** The present life of a run that is here: how often it has begun anew. Empty if it is not here. */
    OptionalInt life(RunRef run);

    /** The runs here that this life of a run of another shard has started, oldest first. */
    List<TaskRow> children(RunRef parent, int life);

    /** A page of them, as {@link Runs#children(RunRef, BelowPlace, int)}. */
    BelowPage children(RunRef parent, int life, BelowPlace after, int limit);

    /** The keys of these runs, and of all runs here that are below them here, in whatever life and state. */
    List<Long> tree(Collection<Long> tops);

    /** The keys of the runs here whose parents are these runs of other shards, in whatever life and state. */
    List<Long> startedBy(Collection<Long> parents);
}
