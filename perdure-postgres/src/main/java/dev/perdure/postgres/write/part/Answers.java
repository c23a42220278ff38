package dev.perdure.postgres.write.part;

import dev.perdure.RunState;
import dev.perdure.postgres.lane.Sender;
import dev.perdure.postgres.write.change.Batch;
import dev.perdure.postgres.write.change.Batch.Placed;
import dev.perdure.postgres.write.change.Endings;
import dev.perdure.postgres.write.change.Entries;
import dev.perdure.postgres.write.change.MailDeliveries;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Move;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The answers of the server to a batch, and what has to be read back. */
public final class Answers {
    public final Outcome[] outcomes;

    /** Whether the lane of the worker was gone. */
    boolean fenced;

    /** The number of the transaction, if some of the entries that it appended existed before. */
    @Nullable
    Long appendedAmongOthers;

    /** Whether the last mail of the batch went to a run in a worker's memory; null if there was no mail. */
    @Nullable
    public Boolean addresseeWasRunning;

    final List<Placed<Change.Advance>> woken = new ArrayList<>();
    final List<Placed<Change.Advance>> lost = new ArrayList<>();
    final Map<Long, Found> found = new HashMap<>();
    public final List<Placed<Change.Start>> taken = new ArrayList<>();
    public final Set<Hints.Hint> hints = new LinkedHashSet<>();
    /** Hints for this worker itself. */
    public final Set<Hints.Hint> hintsHere = new LinkedHashSet<>();
    /** The keys of runs that the worker now holds, by the run whose end let them begin. */
    final Map<Long, List<Long>> handed = new HashMap<>();
    /** The keys of calls that wait behind those, in their order. */
    final Map<Long, List<Long>> next = new HashMap<>();
    /** The keys of calls that wait for their turn, and for whose results other runs wait. */
    public final List<Long> waiting = new ArrayList<>();

    private final Batch batch;
    private final Sender sender;

    public Answers(Batch batch, Sender sender) {
        this.batch = batch;
        this.sender = sender;
        this.outcomes = none(batch.size);
    }

    public void fence(List<? extends Placed<?>> changes) {
        changes.forEach(placed -> outcomes[placed.index()] = new Outcome.Fenced());
    }

    /**
     * Fences one change.
     *
     * @param index the index of a change, or {@link MailDeliveries#UNASKED}
     */
    public void fence(int index) {
        if (index != MailDeliveries.UNASKED) {
            outcomes[index] = new Outcome.Fenced();
        }
    }

    /**
     * Reads back rows that existed before.
     *
     * @param stayEntries the entries that the batch appended to runs that stay
     */
    public void readBack(ReadBack readBack, Entries stayEntries) {
        if (appendedAmongOthers != null) {
            Map<Integer, Instant> before = readBack.before(appendedAmongOthers, stayEntries);
            before.forEach((stay, at) ->
                    outcomes[batch.stays.get(stay).index()] = new Outcome.AlreadyThere(at, RunState.RUNNING));
        }
        for (Placed<Change.Advance> placed : lost) {
            Found row = found.get(placed.change().run().key());
            if (row != null && row.mayBe(placed.change()) && readBack.hasAll(placed.change())) {
                outcomes[placed.index()] = new Outcome.AlreadyThere(row.changedAt(), row.state());
            }
        }
        for (Placed<Change.Advance> placed : woken) {
            if (outcomes[placed.index()] instanceof Outcome.Woken(Instant at, Control none)) {
                outcomes[placed.index()] =
                        new Outcome.Woken(at, readBack.control(placed.change().run()));
            }
        }
        if (!taken.isEmpty()) {
            readBack.existing(taken, sender, outcomes);
        }
        List<Placed<Change.CompletedCall>> fenced = batch.completedCallChanges.stream()
                .filter(completed -> outcomes[completed.index()] instanceof Outcome.Fenced)
                .toList();
        if (!fenced.isEmpty()) {
            readBack.completedCalls(fenced, outcomes);
        }
    }

    /** The indexes of changes without an outcome so far. */
    public static Outcome[] none(int size) {
        Outcome[] outcomes = new Outcome[size];
        Arrays.fill(outcomes, new Outcome.UnknownRun());
        return outcomes;
    }

    /**
     * A run that its worker did not hold as the batch believed.
     *
     * @param state its state
     * @param epoch its epoch
     * @param changedAt when its state last changed
     */
    record Found(RunState state, long epoch, Instant changedAt) {
        /** Whether this transition may have brought it there. */
        boolean mayBe(Change.Advance advance) {
            return epoch == Endings.epoch(advance)
                    && switch (advance.move()) {
                        case Move.Stay() -> false;
                        case Move.Wait wait -> state == wait.state();
                        case Move.Yield() -> state == RunState.READY;
                        case Move.Recover recover -> false;
                        case Move.Restart restart -> false;
                        case Move.Pause pause -> state == RunState.PAUSED;
                        case Move.Arrive() -> state == RunState.PENDING;
                        case Move.End end -> state == end.state();
                    };
        }
    }
}
