package dev.perdure.postgres.lane;

import dev.perdure.error.StoreException;
import dev.perdure.spi.Leases;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.version.WorkerInfo.Heap;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Prevents requests that come without a worker from being carried out twice.
 *
 * <p>How it works: a start is identified by its id and a mail by its token, however late a copy arrives. Nothing
 * identifies a command: a pause that arrives again after the run was resumed would pause it again. Only a lane refuses
 * such a copy, and only workers have lanes. So for its commands this store joins as a worker that runs nothing, and
 * renews that lease when a command comes and half of the lease is over. If the lease has ended in the meantime, the
 * commands are fenced, and the store sends them again under another worker.
 */
public final class ClientFence {
    private static final Duration LEASE = Duration.ofMinutes(1);
    private static final int MOST_TRIES = 5;

    private final Workers workers;
    private final AtomicReference<@Nullable Member> member = new AtomicReference<>();

    /**
     * The worker that runs nothing.
     *
     * @param id its id
     * @param renewed when its lease last began, as far as known; null if it is not known to have joined
     */
    private record Member(WorkerId id, @Nullable Long renewed) {
        static Member orNew(@Nullable Member known) {
            return known != null ? known : new Member(new WorkerId(UUID.randomUUID()), null);
        }

        boolean isFresh() {
            return renewed != null && System.nanoTime() - renewed < LEASE.toNanos() / 2;
        }
    }

    public ClientFence(Workers workers) {
        this.workers = workers;
    }

    /** Whether a late copy of this change would take effect again. */
    public static boolean concerns(Change change) {
        return change instanceof Change.Command || change instanceof Change.Rerun;
    }

    /** Applies the changes of a client. */
    public List<Outcome> apply(Ledger ledger, List<Change> changes) {
        List<Outcome> outcomes = new ArrayList<>(changes.size());
        changes.forEach(change -> outcomes.add(new Outcome.Fenced()));
        for (int tries = 0; tries < MOST_TRIES; tries++) {
            WorkerId sender = sender();
            List<Integer> open = fenced(outcomes);
            List<Outcome> answers = ledger.apply(
                    new Lane(sender, 0), open.stream().map(changes::get).toList());
            for (int i = 0; i < open.size(); i++) {
                outcomes.set(open.get(i), answers.get(i));
            }
            if (fenced(outcomes).isEmpty()) {
                return outcomes;
            }
            leave(sender);
        }
        throw new StoreException(
                StoreException.Kind.UNAVAILABLE,
                "The lease for commands of this client ended %s times before they were carried out; waiting for the database."
                        .formatted(MOST_TRIES),
                null);
    }

    private static List<Integer> fenced(List<Outcome> outcomes) {
        List<Integer> fenced = new ArrayList<>();
        for (int i = 0; i < outcomes.size(); i++) {
            if (outcomes.get(i) instanceof Outcome.Fenced) {
                fenced.add(i);
            }
        }
        return fenced;
    }

    /** All callers send under one worker. Otherwise a copy of what one of them sent would outlive the lane. */
    private WorkerId sender() {
        while (true) {
            Member known = Objects.requireNonNull(member.updateAndGet(Member::orNew));
            if (known.isFresh()) {
                return known.id();
            }
            long now = System.nanoTime();
            if (known.renewed() == null) { // several callers that come at once join once
                workers.join(new Leases.Joining(known.id(), Set.of(), null, LEASE, 1));
                member.compareAndSet(known, new Member(known.id(), now));
            } else if (workers.renew(known.id(), Heap.now()) != null) {
                member.compareAndSet(known, new Member(known.id(), now));
            } else {
                member.compareAndSet(known, null);
                continue;
            }
            return known.id();
        }
    }

    /** Makes sure that nothing that was sent under this worker, and was not answered, can still take effect. */
    private void leave(WorkerId fenced) {
        workers.leave(fenced);
        member.updateAndGet(known -> known != null && known.id().equals(fenced) ? null : known);
    }
}
