package dev.perdure.postgres.write.change;

import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.shard.Partitions;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Assigns keys to new runs: a number from a block of this store, with the partition as its low byte. The key is known
 * before the row is written, and the store asks the sequence once in 65,536 starts.
 *
 * <p>One bit above the number shows whether the run answers a parent. So a batch knows from the keys alone whether the
 * end of a run has to be delivered, and the end of any other run costs nothing for it. A second bit shows whether other
 * runs come after the run, a third whether it holds a virtual object or waits for it, and a fourth whether no caller
 * got the answer to its start.
 */
public final class Keys {
    private static final String NEXT_BLOCK = "SELECT nextval('${schema}.key_block')";
    private static final int PARTITION_BITS = 8;
    private static final int BLOCK_BITS = 16;
    private static final int BLOCK = 1 << BLOCK_BITS;
    /** The sequence counts up to 2^35, and there are at most 256 shards. */
    private static final int BLOCKS_OF_SHARD_BITS = 27;

    private static final long ANSWERS = 1L << 62;
    private static final long PRECEDES = 1L << 61;
    private static final long HOLDS = 1L << 60;
    private static final long UNANSWERED = 1L << 59;

    final String nextBlock;
    private final Database database;
    private final ReentrantLock lock = new ReentrantLock();
    private long next;
    private long end;
    private long firstBlock;

    public Keys(Schema schema, Database database) {
        this.nextBlock = schema.sql(NEXT_BLOCK);
        this.database = database;
    }

    /**
     * This database is one of several shards. Each has blocks of its own, so that keys stay unique when a partition moves.
     *
     * @param number the number of the shard
     */
    public void beShard(int number) {
        lock.lock();
        try {
            long first = (long) number << BLOCKS_OF_SHARD_BITS;
            if (first != firstBlock) {
                firstBlock = first;
                end = next;
            }
        } finally {
            lock.unlock();
        }
    }

    /** Takes this many numbers at once, in ascending order. They are consecutive unless a block ends in between. */
    public long[] take(int count) {
        long[] numbers = new long[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = take();
        }
        Arrays.sort(numbers);
        return numbers;
    }

    /** Takes one number. */
    public long take() {
        lock.lock();
        try {
            if (next < end) {
                return next++;
            }
        } finally {
            lock.unlock();
        }
        refill();
        return take();
    }

    /** Asks for a block outside the lock. At worst two threads do so, and one block stays unused. */
    public void refill() {
        long block = database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, nextBlock);
                    ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        });
        lock.lock();
        try {
            if (next >= end) {
                next = (firstBlock + block) << BLOCK_BITS;
                end = next + BLOCK;
            }
        } finally {
            lock.unlock();
        }
    }

    /** The key of a run to start. */
    public static long key(long number, NewRun run) {
        Parent parent = run.parent();
        boolean answers = parent != null && parent.answers();
        // A child of a run of another shard is started by what that shard sends, of which a copy may arrive late, too.
        boolean near = parent != null && parent.answers() && !parent.isElsewhere();
        boolean copied = run.admission().unanswered() && !near;
        return number << PARTITION_BITS | Partitions.of(run.id()) | (answers ? ANSWERS : 0) | (copied ? UNANSWERED : 0);
    }

    /** The key of a run that holds a virtual object or waits for it. */
    public static long holdersKey(long key) {
        return key | HOLDS;
    }

    /** Whether the run with this key may hold a virtual object, or wait for it. */
    public static boolean holds(long key) {
        return (key & HOLDS) != 0;
    }

    /** Whether another run may have to be told of the end of the run with this key, or may begin then. */
    static boolean concernsOthers(long key) {
        return (key & (ANSWERS | PRECEDES | HOLDS)) != 0;
    }

    /** Whether the end of the run with this key concerns only the calls that wait for the object that it holds. */
    static boolean concernsOnlyObject(long key) {
        return (key & (ANSWERS | PRECEDES | HOLDS)) == HOLDS;
    }

    /** The part of a key that gives the order in which keys were assigned. */
    public static long number(long key) {
        return key & UNANSWERED - 1;
    }

    /** Whether no caller got the answer to the start of the run with this key, so that a copy of it may arrive late. */
    public static boolean isUnanswered(long key) {
        return (key & UNANSWERED) != 0;
    }

    /** The key of a task of the run with this key. */
    static long taskKey(long number, long dag) {
        return number << PARTITION_BITS | partition(dag) | PRECEDES;
    }

    /** Whether other runs come after the run with this key. */
    public static boolean precedes(long key) {
        return (key & PRECEDES) != 0;
    }

    /** Whether a run may wait for the outcome of the run with this key. */
    public static boolean answers(long key) {
        return (key & ANSWERS) != 0;
    }

    public static int partition(long key) {
        return Partitions.ofKey(key);
    }
}
