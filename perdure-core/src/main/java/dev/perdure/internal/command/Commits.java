package dev.perdure.internal.command;

import dev.perdure.error.ClosedException;
import dev.perdure.error.StoreException;
import dev.perdure.internal.commit.Backoff;
import dev.perdure.internal.commit.Committer;
import dev.perdure.internal.settings.Settings;
import dev.perdure.internal.worker.Session;
import dev.perdure.internal.worker.Worker;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Commits what is not a run's own transition: starts and commands. They go with the worker's batches where there is a worker;
 * if that has just lost its lease, they go again with its successor, because they ask for nothing that needs the lease.
 */
public final class Commits {
    private final Settings settings;
    private final @Nullable Worker worker;
    private final Committer client;
    private final BooleanSupplier closed;

    public Commits(Settings settings, @Nullable Worker worker, BooleanSupplier closed) {
        this.settings = settings;
        this.worker = worker;
        this.closed = closed;
        this.client = new Committer(
                settings.store().ledger(),
                settings.clockwork(),
                null,
                settings.store().lanes(),
                () -> !closed.getAsBoolean());
    }

    public void requireOpen() {
        if (closed.getAsBoolean()) {
            throw new ClosedException("This engine is closed. Start another with Perdure.on(store)…start().");
        }
    }

    /** Commits changes that need no lease. */
    public List<Outcome> commitAll(List<Change> changes) {
        requireOpen();
        Session session = worker == null ? null : worker.session();
        List<Outcome> all = new ArrayList<>(commitAll(session, changes));
        if (session != null && all.stream().anyMatch(Outcome.Fenced.class::isInstance)) {
            retire(session);
        }
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i) instanceof Outcome.Fenced) {
                all.set(i, client.commit(changes.get(i)));
            }
        }
        return all;
    }

    /** What a session that is over has sent, and what was not answered, must not arrive after what is sent now. */
    private void retire(Session over) {
        Backoff backoff = new Backoff(settings.clockwork());
        while (true) {
            try {
                settings.store().leases().leave(over.id());
                return;
            } catch (StoreException trouble) {
                if (trouble.kind() == StoreException.Kind.UNUSABLE || closed.getAsBoolean()) {
                    throw trouble;
                }
                backoff.pause();
            }
        }
    }

    /** Commits changes that may be fenced. */
    public List<Outcome> commitAll(@Nullable Session session, List<Change> changes) {
        return session == null ? client.commitAll(changes) : session.committer().commitAll(changes);
    }
}
