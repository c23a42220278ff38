package dev.perdure.postgres.write.change;

import dev.perdure.RunId;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Parent;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Gives out keys for new runs: a number from a block of this store's own, with the partition as its low byte. A key is
 * known before its row is written, and the sequence behind it is asked once in 65,536 starts.
 *
 * <p>A bit above the number tells whether the run was started by one that gets its outcome. So a batch knows from the
 * keys alone whether what it ends has to be told to anybody, and the end of any other run pays nothing for it. A second
 * bit tells the same of runs that others come after, a third of those that hold a virtual object or wait for it.
 */
public final class Keys {
    private static final String NEXT_BLOCK = "SELECT nextval('${schema}.key_block')";
    private static final int PARTITION_BITS = 8;
    private static final int BLOCK_BITS = 16;
    private static final int BLOCK = 1 << BLOCK_BITS;
    private static final long ANSWERS = 1L << 62;
    private static final long PRECEDES = 1L << 61;
    private static final long HOLDS = 1L << 60;

    final String nextBlock;
    private final Database database;
    private final ReentrantLock lock = new ReentrantLock();
    private long next;
    private long end;

    public Keys(Schema schema, Database database) {
        this.nextBlock = schema.sql(NEXT_BLOCK);
        this.database = database;
    }

    /** Takes so many numbers at once, in ascending order; they follow one another unless a block ends in between. */
    public long[] take(int count) {
        long[] numbers = new long[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = take();
        }
        Arrays.sort(numbers);
        return numbers;
    }

    /** Takes one. */
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

    /** Asks for a block outside the lock: at worst two threads do, and one block stays unused. */
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
                next = block << BLOCK_BITS;
                end = next + BLOCK;
            }
        } finally {
            lock.unlock();
        }
    }

    /** The key of a run to be started. A child that answers its parent is of its family and shares its partition. */
    public static long key(long number, NewRun run) {
        Parent parent = run.parent();
        if (parent == null || !parent.answers()) {
            return number << PARTITION_BITS | partition(run.id());
        }
        int partition = parent.isReport() ? partition(run.id()) : partition(parent.run().key());
        return number << PARTITION_BITS | partition | ANSWERS;
    }

    /** The key of a run that holds a virtual object or waits for it. */
    public static long holdersKey(long key) {
        return key | HOLDS;
    }

    /** Whether the run with this key may hold a virtual object, or wait for it. */
    public static boolean holds(long key) {
        return (key & HOLDS) != 0;
    }

    /** Whether the end of the run with this key may have to be told to another, or let another begin. */
    static boolean concernsOthers(long key) {
        return (key & (ANSWERS | PRECEDES | HOLDS)) != 0;
    }

    /** Whether the end of the run with this key concerns only the calls that wait for the object that it holds. */
    static boolean concernsOnlyObject(long key) {
        return (key & (ANSWERS | PRECEDES | HOLDS)) == HOLDS;
    }

    /** What tells the order in which keys were given out. */
    public static long number(long key) {
        return key & HOLDS - 1;
    }

    /** The key of a task of the run with this key. */
    static long taskKey(long number, long dag) {
        return number << PARTITION_BITS | partition(dag) | PRECEDES;
    }

    /** Whether others come after the run with this key. */
    public static boolean precedes(long key) {
        return (key & PRECEDES) != 0;
    }

    /** Whether a run may wait for the outcome of the run with this key. */
    public static boolean answers(long key) {
        return (key & ANSWERS) != 0;
    }

    public static int partition(long key) {
        return (int) key & 0xFF;
    }

    /**
     * The partition of a run with this id and of its family. What the engine calls children and tasks begins with the id of
     * their root and a slash, so only the part before the first slash counts: the partition is found from any of these ids
     * alone. The hash is fixed by Java's specification, so it is the same in every process and for ever.
     */
    public static int partition(RunId id) {
        String value = id.value();
        int slash = value.indexOf('/');
        return partition((slash < 0 ? value : value.substring(0, slash)).hashCode());
    }

    public static int partition(ObjectKey object) {
        return partition((object.type() + "/" + object.key()).hashCode());
    }

    private static int partition(int hash) {
        return (hash ^ hash >>> 16) & 0xFF;
    }
}
