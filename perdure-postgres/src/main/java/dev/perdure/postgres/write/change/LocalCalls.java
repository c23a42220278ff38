package dev.perdure.postgres.write.change;

import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.ObjectKey;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The calls of virtual objects that this process started at free objects, so that their ends need not look the objects
 * up.
 *
 * <p>How it works: when a call takes a free object, no call waits for that object. Every call that has to wait for it
 * later raises the number of arrivals on the object's row. So if that number is still the same when the call ends, no
 * call waits. The statement that frees the object compares the number under the lock of the row, so nothing that is
 * known here has to be true.
 */
public final class LocalCalls {
    /** At most two generations of this many calls are known, as of {@link LocalDags tasks}. */
    private static final int GENERATION = 25_000;

    private final AtomicReference<Generations> calls =
            new AtomicReference<>(new Generations(new ConcurrentHashMap<>(), new ConcurrentHashMap<>()));

    /**
     * The object that a call holds.
     *
     * @param arrivals how many calls had ever had to wait for it when the call took it
     */
    public record Held(ObjectKey object, long arrivals) {}

    private record Generations(ConcurrentMap<Long, Held> young, ConcurrentMap<Long, Held> old) {
        Generations next() {
            return young.size() < GENERATION ? this : new Generations(new ConcurrentHashMap<>(), young);
        }
    }

    /** The object that the call with this key holds, if it is known. */
    @Nullable
    public Held find(long key) {
        Generations now = calls.get();
        Held found = now.young().get(key);
        return found != null ? found : now.old().get(key);
    }

    /** The call with this key has taken its object. */
    public void took(long key, ObjectKey object, long arrivals) {
        calls.updateAndGet(Generations::next).young().put(key, new Held(object, arrivals));
    }

    /** A change was sent, by whichever plan: if it is not known to leave the call where it is, the call is forgotten. */
    public void saw(Change change) {
        if (change instanceof Change.Advance advance
                && !(advance.move() instanceof Move.Stay)
                && Keys.holds(advance.run().key())) {
            Generations now = calls.get();
            if (now.young().remove(advance.run().key()) == null) {
                now.old().remove(advance.run().key());
            }
        }
    }
}
