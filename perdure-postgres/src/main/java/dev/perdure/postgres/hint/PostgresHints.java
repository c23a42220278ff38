package dev.perdure.postgres.hint;

import dev.perdure.spi.Hints;
import dev.perdure.spi.change.WorkerId;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Sends hints to the listeners in this process at once, and to other processes through PostgreSQL if notifications are
 * on.
 */
public final class PostgresHints implements Hints {
    private final List<Listener> listeners = new CopyOnWriteArrayList<>();
    private final WaitingCallers waitingCallers = new WaitingCallers(this);
    private volatile @Nullable Notifier notifier;
    private volatile Predicate<WorkerId> isHere = worker -> false;

    /**
     * Sends hints to other processes through this from now on.
     *
     * @param workersHere whether a worker is in this process: what is only for such a worker is not sent to others
     */
    public void sendThrough(Notifier sender, Predicate<WorkerId> workersHere) {
        this.isHere = workersHere;
        this.notifier = sender;
    }

    @Override
    public Subscription subscribe(Listener listener) {
        listeners.add(listener);
        return () -> listeners.remove(listener);
    }

    /** Sends hints to all listeners that they may concern. Call it after the commit. */
    public void tell(Hint hint) {
        tellHere(hint);
        boolean ofUse = switch (hint) {
            case WorkReady() -> true;
            case WorkerSignalled signalled -> !isHere.test(signalled.worker());
            case MailArrived mail -> !isHere.test(mail.worker());
            case LeaseInDoubt() -> true;
            case RunEnded ended -> waitingCallers.exist();
            case RunShows shows -> waitingCallers.exist();
            case OutgoingKept() -> false;
            case CallsWait() -> false;
            case PartitionsMoved() -> true;
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
