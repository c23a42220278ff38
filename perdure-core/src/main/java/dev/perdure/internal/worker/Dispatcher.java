package dev.perdure.internal.worker;

import dev.perdure.internal.commit.Backoff;
import dev.perdure.internal.commit.Outage;
import dev.perdure.internal.definition.Registry;
import dev.perdure.internal.execution.Execution;
import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.settings.Settings;
import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Polled;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Leases;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gets a worker its work: one loop that polls, launches what it claimed, passes on what was asked of running runs, and sleeps
 * until a hint, the next timer or the next look. Polling is the truth and backs off when idle; hints only make it quick.
 *
 * <p>Once per lease, and after a poll or a hand-over whose answer was lost, it compares what the store believes this worker
 * holds with what it has in memory. What it does not know it gives back, as soon as no call is in flight any more that could
 * still bring it ({@link Acquisitions}) and if the store still says the same then. So no run stays owned by a worker that
 * forgot it, none is given back that is about to be launched, and a run that ended while the store answered costs nothing.
 *
 * <p>A run that was recovered several times without progress is taken only by a worker that holds nothing else, and while it
 * runs nothing else is taken, for two leases at most: one that has not killed its process by then holds up no others. After
 * each of them comes a poll for others. If one waits for longer than a lease, this worker takes nothing else during every second lease,
 * so that it empties sooner or later without standing still because of it.
 */
final class Dispatcher {
    private static final Logger LOG = LoggerFactory.getLogger("dev.perdure.worker");
    private static final int CLAIM_BATCH = 500;
    private static final long SHORTEST = TimeUnit.MILLISECONDS.toNanos(25);
    private static final long LONGEST = TimeUnit.SECONDS.toNanos(1);

    private static final int EXCLUSIVE_LEASES = 2;

    private static final Polled NOTHING = new Polled(List.of(), List.of(), null, false);

    private final Settings settings;
    private final Settings.WorkerRules rules;
    private final Registry registry;
    private final Clockwork.Signal look;
    private final Runnable whenTaken;
    private volatile boolean closed;
    /** Whether runs may be claimed that are not launched yet. */
    private volatile boolean taking;

    private volatile boolean exclusive;
    private long exclusiveSince;
    /** Whether it is the turn of runs that need not be alone. */
    private boolean othersFirst;

    private volatile boolean draining;
    private volatile boolean hungry;
    private volatile boolean reconcile;
    private long nextReconcile;
    private @Nullable Suspects suspects;

    private long aloneWaitsSince = Clockwork.NEVER;

    /** @param whenTaken told when a poll ends during which it was closed, and so is its last */
    Dispatcher(Settings settings, Settings.WorkerRules rules, Registry registry, Runnable whenTaken) {
        this.settings = settings;
        this.rules = rules;
        this.registry = registry;
        this.look = settings.clockwork().signal();
        this.whenTaken = whenTaken;
        this.nextReconcile = settings.clockwork().nanoTime() + rules.lease().toNanos();
    }

    /** It may be worth looking. */
    void look() {
        look.raise();
    }

    /**
     * A run has left memory. Only when there was no room for all that waits, or a run waits to be alone, is that worth a
     * look: a worker that polled whenever one of its own runs ended would poll without a pause under load.
     */
    void madeRoom() {
        if (hungry) {
            look.raise();
        }
    }

    /** This worker may hold runs that it does not know of. */
    void reconcile() {
        reconcile = true;
        look.raise();
    }

    void close() {
        closed = true;
        look.raise();
    }

    /** Whether what a last poll has claimed may still be on its way into memory. */
    boolean isTaking() {
        return taking;
    }

    /** Whether no other run may be taken or born here now. */
    boolean isExclusive() {
        return exclusive || draining;
    }

    void loop(Supplier<Session> session) {
        Backoff trouble = new Backoff(settings.clockwork());
        Outage outage = new Outage("look for runs to execute");
        long interval = SHORTEST;
        while (!closed) {
            try {
                Session current = session.get();
                Polled polled = take(current);
                trouble.reset();
                outage.over();
                boolean busy =
                        passOn(current, polled.signalled()) || !polled.claimed().isEmpty();
                interval = busy ? SHORTEST : Math.min(LONGEST, interval * 2);
                boolean more = polled.claimed().size() == CLAIM_BATCH;
                if (!more && Waiting.until(look, timerNanos(current, polled.nextDue()), interval)) {
                    interval = SHORTEST;
                }
            } catch (Throwable thrown) { // whatever it is, a worker without this loop would be dead and look alive
                reconcile = true;
                outage.noticed(thrown);
                trouble.pause();
            }
        }
    }

    private long timerNanos(Session session, @Nullable Instant nextDue) {
        return nextDue == null ? Clockwork.NEVER : Math.max(1, session.clock().nanosUntil(nextDue));
    }

    /** Polls unless the dispatcher is closed. Either this sees that it is closed, or {@link #close} sees that this is taking runs. */
    private Polled take(Session session) {
        taking = true;
        try {
            return closed ? NOTHING : poll(session);
        } finally {
            taking = false;
            if (closed) {
                whenTaken.run();
            }
        }
    }

    private Polled poll(Session session) {
        giveBackForgotten(session);
        endExclusiveIfTime(session);
        boolean empty = session.isEmpty();
        boolean aloneToo = empty && !othersFirst;
        int room = exclusive || (draining && !empty) ? 0 : rules.maxRuns() - session.size();
        int limit = Math.clamp(room, 0, CLAIM_BATCH);
        hungry = limit < CLAIM_BATCH;
        Polled polled = settings.store()
                .dispatch()
                .poll(new Dispatch.Poll(
                        session.id(), registry.names(), rules.queues(), rules.version(), limit, aloneToo));
        polled.changed().forEach(session::tell);
        draining = polled.aloneWaits() && isTimeToDrain();
        if (!polled.aloneWaits()) {
            aloneWaitsSince = Clockwork.NEVER;
        }
        boolean alone = exclusive || polled.claimed().stream().anyMatch(Claimed::alone);
        hungry = alone
                || polled.aloneWaits()
                || polled.limited()
                || polled.claimed().size() == limit;
        if (polled.aloneWaits() && !aloneToo && session.isEmpty()) {
            look.raise(); // the last run left before it was known that a run waits for that
        }
        othersFirst = false;
        launch(session, polled.claimed());
        return polled;
    }

    /** Tells running runs what is asked of them; says whether anything of it is news. */
    private static boolean passOn(Session session, List<Dispatch.Signalled> signalled) {
        boolean news = false;
        for (Dispatch.Signalled signal : signalled) {
            news |= session.execution(signal.run(), signal.epoch())
                    .map(execution -> execution.signal(signal.control()))
                    .orElse(false);
        }
        return news;
    }

    private void endExclusiveIfTime(Session session) {
        boolean lasts = settings.clockwork().nanoTime() - exclusiveSince
                < EXCLUSIVE_LEASES * rules.lease().toNanos();
        if (exclusive && !(lasts && session.executions().stream().anyMatch(Execution::alone))) {
            exclusive = false;
            othersFirst = true;
        }
    }

    private boolean isTimeToDrain() {
        long now = settings.clockwork().nanoTime();
        if (aloneWaitsSince == Clockwork.NEVER) {
            aloneWaitsSince = now;
        }
        return (now - aloneWaitsSince) / rules.lease().toNanos() % 2 == 1;
    }

    private void launch(Session session, List<Claimed> claimed) {
        // A run that is claimed for the first time has no journal yet.
        List<RunRef> withJournal = claimed.stream()
                .filter(claim -> claim.epoch() > Outcome.Started.FIRST_EPOCH)
                .map(Claimed::run)
                .toList();
        Map<RunRef, Journals.Page> journals = session.store().readFirst(withJournal);
        for (Claimed claim : claimed) {
            registry.find(claim.definition()).ifPresent(definition -> {
                if (claim.alone()) {
                    exclusive = true;
                    exclusiveSince = settings.clockwork().nanoTime();
                }
                HeldRun held = HeldRun.of(claim, definition, Optional.empty());
                session.launch(held, journals.getOrDefault(claim.run(), Journals.Page.EMPTY));
            });
        }
    }

    /**
     * Runs that the store believes a session holds and that it does not know.
     *
     * @param session which
     * @param runs what it seems to have forgotten
     * @param calls that may still bring them
     */
    private record Suspects(Session session, List<Leases.Owned> runs, Set<Object> calls) {
        boolean areDecided() {
            return session.acquisitions().areOver(calls);
        }
    }

    private void giveBackForgotten(Session session) {
        Suspects before = suspects;
        if (before != null && before.session == session) {
            if (!before.areDecided()) {
                return;
            }
            suspects = null; // also if giving back fails: then they are found again
            giveBack(session, before.runs);
        }
        suspects = null;
        if (reconcile || settings.clockwork().nanoTime() - nextReconcile >= 0) {
            reconcile = false;
            nextReconcile = settings.clockwork().nanoTime() + rules.lease().toNanos();
            suspects = unknown(session);
            giveBackForgotten(session);
        }
    }

    private @Nullable Suspects unknown(Session session) {
        List<Leases.Owned> unknown = owned(session);
        return unknown.isEmpty()
                ? null
                : new Suspects(session, unknown, session.acquisitions().underWay());
    }

    /** What the store believes that the session holds and the session does not. */
    private List<Leases.Owned> owned(Session session) {
        return settings.store().leases().owned(session.id()).stream()
                .filter(owned -> !session.holds(owned.run()))
                .toList();
    }

    /**
     * Gives suspects back that the store says again this session holds. Under load most of them are not forgotten: they
     * ended after the store had read them as held, and before the session was asked whether it knows them.
     */
    private void giveBack(Session session, List<Leases.Owned> runs) {
        List<Change> forgotten = owned(session).stream()
                .filter(new HashSet<>(runs)::contains)
                .<Change>map(owned -> new Change.Advance(owned.run(), owned.epoch(), List.of(), new Move.Yield()))
                .toList();
        if (!forgotten.isEmpty()) {
            List<Outcome> outcomes = session.committer().commitAll(forgotten);
            LOG.debug("Gave back runs that this worker did not know it held: {}, {}", forgotten, outcomes);
        }
    }
}
