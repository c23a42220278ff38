package dev.perdure.postgres;

import dev.perdure.spi.Hints;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Gives hints to listeners in this process at once, and to other processes through PostgreSQL if notifications are on.
 */
final class PostgresHints implements Hints {
    private final List<Listener> listeners = new CopyOnWriteArrayList<>();
    private volatile @Nullable Notifier notifier;

    void sendThrough(Notifier sender) {
        this.notifier = sender;
    }

    @Override
    public Subscription subscribe(Listener listener) {
        listeners.add(listener);
        return () -> listeners.remove(listener);
    }

    /** Tells everyone. Call it after the commit. */
    void tell(Hint hint) {
        tellHere(hint);
        Notifier sender = notifier;
        if (sender != null) {
            sender.add(hint);
        }
    }

    /** Tells this process only. */
    void tellHere(Hint hint) {
        listeners.forEach(listener -> listener.hint(hint));
    }
}
