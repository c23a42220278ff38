package dev.perdure.internal.command;

import dev.perdure.error.ClosedException;
import dev.perdure.error.StoreException;
import dev.perdure.internal.commit.Backoff;
import dev.perdure.internal.commit.PartCommitters;
import dev.perdure.internal.settings.Settings;
import dev.perdure.internal.worker.Session;
import dev.perdure.internal.worker.Worker;
import dev.perdure.internal.worker.Workers;
import dev.perdure.spi.Leases;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Commits changes that are not transitions of a run: starts and commands. If the engine has a worker, they share the
 * batches of the worker's session. If that session has just lost its lease, they are sent again with the next session,
 * because they do not need the lease.
 */
public final class Commits {
    private final Settings settings;
    private final Workers workers;
    private final PartCommitters clients;
    private final BooleanSupplier closed;

    public Commits(Settings settings, Workers workers, PartCommitters clients, BooleanSupplier closed) {
        this.settings = settings;
        this.workers = workers;
        this.clients = clients;
        this.closed = closed;
    }

    public void requireOpen() {
        if (closed.getAsBoolean()) {
            throw new ClosedException("This engine is closed. Start another with Perdure.on(store)…start().");
        }
    }

    /** Commits changes that do not need the lease. */
    public List<Outcome> commitAll(List<Change> changes) {
        requireOpen();
        return clients.byPart(changes, this::commitInPart);
    }

    private List<Outcome> commitInPart(int part, List<Change> changes) {
        Worker worker = workers.of(part);
        Session session = worker == null ? null : worker.session();
        List<Outcome> all = new ArrayList<>(commitAll(part, session, changes));
        if (session != null && !session.alive() && all.stream().anyMatch(Outcome.Fenced.class::isInstance)) {
            retire(part, session); // Otherwise the run has moved to another part, and the worker keeps its lease.
        }
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i) instanceof Outcome.Fenced) {
                all.set(i, clients.commitAll(part, List.of(changes.get(i))).getFirst());
            }
        }
        return all;
    }

    /**
     * Waits until nothing that an ended session has sent, and that was not answered, can still arrive after what is
     * sent now.
     */
    private void retire(int part, Session over) {
        Leases leases = settings.parts().stores().get(part).leases();
        Backoff backoff = new Backoff(settings.clockwork());
        while (true) {
            try {
                leases.leave(over.id());
                return;
            } catch (StoreException trouble) {
                if (trouble.kind() == StoreException.Kind.UNUSABLE || closed.getAsBoolean()) {
                    throw trouble;
                }
                backoff.pause();
            }
        }
    }

    /** Commits changes of one part that may be fenced. */
    public List<Outcome> commitAll(int part, @Nullable Session session, List<Change> changes) {
        return session == null
                ? clients.commitAll(part, changes)
                : session.committer().commitAll(changes);
    }
}
