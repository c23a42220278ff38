package dev.perdure.postgres.hint;

import dev.perdure.spi.Hints;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Sends hints to the listeners in this process at once, and to other processes through PostgreSQL if notifications are
 * on.
 */
public final class PostgresHints implements Hints {
    private final List<Listener> listeners = new CopyOnWriteArrayList<>();
    private final WaitingCallers waitingCallers = new WaitingCallers(this);
    private volatile @Nullable Notifier notifier;

    public void sendThrough(Notifier sender) {
        this.notifier = sender;
    }

    @Override
    public Subscription subscribe(Listener listener) {
        listeners.add(listener);
        return () -> listeners.remove(listener);
    }

    /** Sends hints to all listeners. Call it after the commit. */
    public void tell(Hint hint) {
        tellHere(hint);
        boolean ofUse = switch (hint) {
            case WorkReady() -> true;
            case WorkerSignalled signalled -> true;
            case MailArrived mail -> true;
            case LeaseInDoubt() -> true;
            case RunEnded ended -> waitingCallers.exist();
            case RunShows shows -> waitingCallers.exist();
        };
        if (ofUse) {
            notifyOthers(Notice.line(hint));
        }
    }

    /** Sends a line of a {@link Notice} to other processes. */
    public void notifyOthers(String line) {
        Notifier sender = notifier;
        if (sender != null) {
            sender.add(line);
        }
    }

    /** The callers that wait for results and published values, here and in other processes. */
    public WaitingCallers waitingCallers() {
        return waitingCallers;
    }

    /** Sends hints to the listeners in this process only. */
    public void tellHere(Hint hint) {
        listeners.forEach(listener -> listener.hint(hint));
    }
}
