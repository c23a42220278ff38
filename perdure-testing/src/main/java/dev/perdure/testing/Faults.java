package dev.perdure.testing;

import dev.perdure.RunChange;
import dev.perdure.error.StoreException;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Leases;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Permits;
import dev.perdure.spi.QueueRules;
import dev.perdure.spi.ReactionRules;
import dev.perdure.spi.Removals;
import dev.perdure.spi.Runs;
import dev.perdure.spi.States;
import dev.perdure.spi.Store;
import dev.perdure.spi.VersionRules;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.payload.Payloads;
import dev.perdure.spi.payload.StoredValues;
import dev.perdure.spi.report.Reports;
import dev.perdure.spi.shard.Parts;
import dev.perdure.spi.statistics.Statistics;
import dev.perdure.status.StoreHealth;
import dev.perdure.status.StoreStatus;
import dev.perdure.version.WorkerInfo.Heap;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The store as one worker sees it. It fails when the test requests it. */
final class Faults implements Store {
    /** A fault that happens once, at a commit of a transition. */
    enum Fault {
        NONE,
        /** The process dies and the commit does not happen. */
        CRASH_BEFORE,
        /** The commit happens, and the process dies before it gets the answer. */
        CRASH_AFTER,
        /** The commit happens, and its answer is lost. */
        LOSE_ANSWER
    }

    private final Store store;
    private final boolean hints;
    private final Runnable crash;
    private final Plan plan;
    private final List<Faults> parts;
    private volatile @Nullable WorkerId worker;

    /** The faults to come. All workers share them, so that a fault happens once, to the worker that commits first. */
    static final class Plan {
        private record Next(Fault fault, int after) {
            static final Next NOTHING = new Next(Fault.NONE, 0);

            Next later() {
                return after == 0 ? NOTHING : new Next(fault, after - 1);
            }
        }

        private final AtomicReference<Next> next = new AtomicReference<>(Next.NOTHING);
        private final AtomicBoolean loseClaim = new AtomicBoolean();

        /** Plans a fault, after this many transitions without one. */
        void after(int transitions, Fault fault) {
            next.set(new Next(fault, transitions));
        }

        void loseNextClaim() {
            loseClaim.set(true);
        }

        private Fault atTransition() {
            Next planned = next.getAndUpdate(Next::later);
            return planned.after() == 0 ? planned.fault() : Fault.NONE;
        }

        private boolean losesClaim() {
            return loseClaim.getAndSet(false);
        }
    }

    Faults(Store store, Plan plan, boolean hints, Runnable crash) {
        this(
                store,
                plan,
                hints,
                crash,
                store.parts().stores().size() == 1
                        ? List.of()
                        : store.parts().stores().stream()
                                .map(part -> new Faults(part, plan, hints, crash, List.of()))
                                .toList());
    }

    private Faults(Store store, Plan plan, boolean hints, Runnable crash, List<Faults> parts) {
        this.store = store;
        this.plan = plan;
        this.hints = hints;
        this.crash = crash;
        this.parts = parts;
    }

    /** Ends the lease of the worker at once, as if its time had passed. If the store has several parts, those of all workers. */
    void expire() {
        parts.forEach(Faults::expire);
        WorkerId id = worker;
        if (id != null) {
            store.leases().leave(id);
        }
    }

    @Override
    public Parts parts() {
        Parts real = store.parts();
        if (parts.isEmpty()) {
            return real;
        }
        return real.through(List.copyOf(parts));
    }

    private static StoreException lost() {
        return new StoreException(StoreException.Kind.UNAVAILABLE, "The test lost the answer.", null);
    }

    @Override
    public Ledger ledger() {
        return this::apply;
    }

    private List<Outcome> apply(Lane lane, List<Change> changes) {
        boolean transition = changes.stream().anyMatch(change -> change instanceof Change.Advance);
        Fault fault = transition ? plan.atTransition() : Fault.NONE;
        if (fault == Fault.CRASH_BEFORE) {
            crash.run();
            throw lost();
        }
        List<Outcome> outcomes = store.ledger().apply(lane, changes);
        return switch (fault) {
            case NONE, CRASH_BEFORE -> outcomes;
            case CRASH_AFTER -> {
                crash.run();
                throw lost();
            }
            case LOSE_ANSWER -> throw lost();
        };
    }

    @Override
    public Leases leases() {
        Leases real = store.leases();
        return new Leases() {
            @Override
            public Instant join(Joining joining) {
                worker = joining.id();
                return real.join(joining);
            }

            @Override
            public @Nullable Instant renew(WorkerId id, Heap heap) {
                return real.renew(id, heap);
            }

            @Override
            public List<RunChange> sweep(int limit) {
                return real.sweep(limit);
            }

            @Override
            public List<Owned> owned(WorkerId id) {
                return real.owned(id);
            }

            @Override
            public void leave(WorkerId id) {
                real.leave(id);
            }
        };
    }

    @Override
    public Dispatch dispatch() {
        return request -> {
            Dispatch.Polled polled = store.dispatch().poll(request);
            if (!polled.claimed().isEmpty() && plan.losesClaim()) {
                throw lost();
            }
            return polled;
        };
    }

    @Override
    public Journals journals() {
        return store.journals();
    }

    @Override
    public Mailboxes mailboxes() {
        return store.mailboxes();
    }

    @Override
    public States states() {
        return store.states();
    }

    @Override
    public Payloads payloads() {
        return store.payloads();
    }

    @Override
    public StoredValues values() {
        return store.values();
    }

    @Override
    public Runs runs() {
        return store.runs();
    }

    @Override
    public QueueRules queues() {
        return store.queues();
    }

    @Override
    public ReactionRules reactions() {
        return store.reactions();
    }

    @Override
    public Permits permits() {
        return store.permits();
    }

    @Override
    public VersionRules versions() {
        return store.versions();
    }

    @Override
    public Reports reports() {
        return store.reports();
    }

    @Override
    public Statistics statistics() {
        return store.statistics();
    }

    @Override
    public Removals removals() {
        return store.removals();
    }

    @Override
    public StoreStatus status() {
        return store.status();
    }

    @Override
    public StoreHealth health() {
        return store.health();
    }

    @Override
    public Hints hints() {
        return hints ? store.hints() : listener -> () -> {};
    }

    @Override
    public int lanes() {
        return store.lanes();
    }

    @Override
    public void close() {}
}
