package dev.perdure.status;

import dev.perdure.RunId;
import dev.perdure.RunState;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * How the store is. A store in memory has no tables and no transactions.
 *
 * @param at when this was read, by the store's clock
 * @param workers how many workers are alive
 * @param runs the runs that have not ended, by state; a state without runs is left out
 * @param removal what retention removes next
 * @param tables the tables, the largest first
 * @param oldestTransaction the transaction that has been open for longest, of those that the role may see
 * @param findings what is wrong and what to do; empty if all is well
 */
public record StoreStatus(
        Instant at,
        int workers,
        List<InState> runs,
        Removal removal,
        List<Table> tables,
        Optional<Transaction> oldestTransaction,
        List<Finding> findings) {
    /** Copies the lists. */
    public StoreStatus {
        runs = List.copyOf(runs);
        tables = List.copyOf(tables);
        findings = List.copyOf(findings);
    }

    /**
     * The runs in a state.
     *
     * @param state the state
     * @param count how many they are
     * @param oldest the one that was started first
     * @param oldestCreatedAt when that was
     */
    public record InState(RunState state, long count, RunId oldest, Instant oldestCreatedAt) {}

    /**
     * What retention removes next.
     *
     * @param due how many runs have ended longer ago than the shortest period of retention, {@link #BOUND} at most, and are kept neither by their
     *     parent nor by a start key. If there is only one period, the next pass removes them, unless a run below one of them is
     *     young; otherwise it looks at them, and some stay for longer
     * @param more whether there may be more than these
     * @param first the one of them that was started first, with which the pass begins
     * @param nextPass when the next pass over old runs may begin; empty if one is under way
     */
    public record Removal(int due, boolean more, Optional<RunId> first, Optional<Instant> nextPass) {
        /** The number up to which runs are counted. */
        public static final int BOUND = 10_000;
    }

    /**
     * A table.
     *
     * @param name its name
     * @param rows how many rows it has, about
     * @param deadRows how many rows were deleted or replaced and wait for vacuum, about
     * @param bytes its size without indexes
     * @param indexBytes the size of its indexes
     * @param freeBytes how much of the table is free space, estimated; empty before the table is analyzed
     * @param vacuumedAt when vacuum was last there
     */
    public record Table(
            String name,
            long rows,
            long deadRows,
            long bytes,
            long indexBytes,
            Optional<Long> freeBytes,
            Optional<Instant> vacuumedAt) {}

    /**
     * An open transaction.
     *
     * @param since when it began
     * @param session whose it is: process, user and application
     * @param state what the session does, such as {@code idle in transaction}
     */
    public record Transaction(Instant since, String session, String state) {}
}
