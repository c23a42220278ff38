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
import dev.perdure.spi.measure.Measurements;
import dev.perdure.spi.report.EngineLog;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Gets a worker its work. One loop polls, launches the runs that it claimed, passes requests on to running runs, and
 * sleeps until a hint arrives, the next timer is due, or the next poll is due. The engine relies only on polls, which
 * become rare when the worker is idle; hints only make it faster.
 *
 * <p>Once per lease, and after a poll or a hand-over whose answer was lost, it compares the runs that the store says
 * this worker holds with the runs in memory. It gives back the runs that it does not know, as soon as no call is in
 * flight that could still bring them ({@link Acquisitions}), and if the store still says the same then. So no run stays
 * owned by a worker that forgot it, no run is given back that is about to be launched, and a run that ended while the
 * store answered costs nothing.
 *
 * <p>A run that was recovered several times without progress is taken only by a worker that holds no other run. While
 * it runs, the worker takes no other run, for two leases at most: after that time it evidently does not kill its
 * process. After each such run the worker polls for other runs first. If such a run waits for longer than a lease, this
 * worker takes no other run during every second lease, so that its memory empties sooner or later, but the worker does
 * not stand still.
 */
final class Dispatcher {
    private static final Logger LOG = EngineLog.of("dev.perdure.worker");
    private static final int CLAIM_BATCH = 500;
    private static final long SHORTEST = TimeUnit.MILLISECONDS.toNanos(25);
    private static final long LONGEST = TimeUnit.SECONDS.toNanos(1);
    /** The same for each of several parts of a store, so that an idle process asks them no more than necessary. */
    private static final long LONGEST_OF_SEVERAL = TimeUnit.SECONDS.toNanos(2);

    private static final int EXCLUSIVE_LEASES = 2;
    private static final Duration GATHERING = Duration.ofMillis(4);

    private static final Polled NOTHING = new Polled(List.of(), List.of(), null, false);

    private final Settings settings;
    private final Settings.WorkerRules rules;
    private final Registry registry;
    private final Draining drains;
    private final WorkerLimits.Claimer limits;
    private final Clockwork.Signal look;
    private final long longest;
    private final Runnable whenTaken;
    private volatile boolean closed;
    /** Whether there may be claimed runs that are not launched yet. */
    private volatile boolean taking;

    private volatile boolean exclusive;
    private long exclusiveSince;
    /** Whether runs that need not be alone are next. */
    private boolean othersFirst;

    private volatile boolean draining;
    private volatile boolean hungry;
    private final FreePlaces freePlaces = new FreePlaces();

    private volatile boolean reconcile;
    private long nextReconcile;
    private @Nullable Suspects suspects;

    private long aloneWaitsSince = Clockwork.NEVER;

    /** When the next waiting run is due, as far as the last poll knows. */
    private @Nullable Instant nextDue;

    /**
     * @param limits makes this known, with what lets it look, to the other workers of the engine
     * @param whenTaken called when a poll ends during which the dispatcher was closed, and which therefore is the last
     */
    Dispatcher(
            Settings settings,
            Settings.WorkerRules rules,
            Registry registry,
            Draining drains,
            Function<Runnable, WorkerLimits.Claimer> limits,
            Runnable whenTaken) {
        this.settings = settings;
        this.rules = rules;
        this.registry = registry;
        this.drains = drains;
        this.look = settings.clockwork().signal();
        this.limits = limits.apply(this::look);
        this.longest = settings.parts().stores().size() > 1 ? LONGEST_OF_SEVERAL : LONGEST;
        this.whenTaken = whenTaken;
        this.nextReconcile = settings.clockwork().nanoTime() + rules.lease().toNanos();
    }

    /** A poll may be worthwhile. */
    void look() {
        look.raise();
    }

    /**
     * A run has left memory. The loop polls only if there was no room for all waiting runs, or if a run waits to be
     * alone. Otherwise a worker would poll without a pause under load, each time one of its runs ends.
     */
    void madeRoom() {
        if (freePlaces.left() && hungry) {
            look.raise();
        }
    }

    /** This worker may hold runs that it does not know. */
    void reconcile() {
        reconcile = true;
        look.raise();
    }

    void close() {
        closed = true;
        look.raise();
    }

    /** Whether runs of the last poll may still be on their way into memory. */
    boolean isTaking() {
        return taking;
    }

    /** Whether no other run may begin here now. */
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
                interval = busy ? SHORTEST : Math.min(longest, interval * 2);
                boolean more = polled.claimed().size() == CLAIM_BATCH;
                if (!more && Waiting.until(look, timerNanos(current, polled.nextDue()), interval)) {
                    interval = SHORTEST;
                    gather();
                }
            } catch (Throwable thrown) { // Any error: without this loop, the worker would do nothing and look alive.
                reconcile = true;
                outage.noticed(thrown);
                trouble.pause();
            }
        }
    }

    /** Waits for a moment if only a few places of a queue with limits are free. A hint ends the wait. */
    private void gather() {
        if (freePlaces.areFew()) {
            settings.clockwork().giveWay(look, GATHERING);
        }
    }

    private long timerNanos(Session session, @Nullable Instant nextDue) {
        return nextDue == null ? Clockwork.NEVER : Math.max(1, session.clock().nanosUntil(nextDue));
    }

    /**
     * Polls unless the dispatcher is closed. Either this sees that it is closed, or {@link #close} sees that this is
     * taking runs.
     */
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
        freePlaces.pollBegins();
        giveBackForgotten(session);
        endExclusiveIfTime(session);
        boolean empty = session.runs().isEmpty();
        boolean takes = !exclusive && (!draining || empty);
        int limit = takes ? session.runs().keepPlaces(rules.maxRuns(), CLAIM_BATCH) : 0;
        try (WorkerLimits.Claim claim = limits.begin(rules.queues(), limit)) {
            return poll(session, empty, limit, claim);
        } finally {
            session.runs().freePlaces(limit);
        }
    }

    /**
     * As {@link #poll(Session)}.
     *
     * @param empty whether the session holds no run
     * @param limit how many runs to claim at most; the session keeps their places
     * @param claim the places of limits that it keeps for them
     */
    private Polled poll(Session session, boolean empty, int limit, WorkerLimits.Claim claim) {
        boolean aloneToo = empty && !othersFirst;
        hungry = limit < CLAIM_BATCH;
        Dispatch.Version version = drains.version();
        long began = settings.clockwork().nanoTime();
        Polled polled = settings.store()
                .dispatch()
                .poll(new Dispatch.Poll(
                        session.id(),
                        registry.names(),
                        rules.queues(),
                        version,
                        limit,
                        aloneToo,
                        rules.labels(session.id()),
                        claim.places()));
        measure(session, polled, began);
        drains.polled(version);
        polled.changed().forEach(session::tell);
        draining = polled.aloneWaits() && isTimeToDrain();
        if (!polled.aloneWaits()) {
            aloneWaitsSince = Clockwork.NEVER;
        }
        int claimed = polled.claimed().size();
        boolean alone = exclusive || polled.claimed().stream().anyMatch(Claimed::alone);
        hungry = alone || polled.aloneWaits() || polled.limited() || claimed == limit;
        freePlaces.polled(claimed, session.runs().size() - limit + claimed, polled.limited());
        if (hungry && freePlaces.someLeft()) {
            look.raise(); // A run left before the dispatcher knew that others wait for its place.
        }
        if (polled.aloneWaits() && !aloneToo && session.runs().isEmpty()) {
            look.raise(); // The last run left before the dispatcher knew that a run waits to be alone.
        }
        othersFirst = false;
        launch(session, admitted(claim, polled));
        return polled;
    }

    /** The claimed runs without those for which there is no place any more: they are given back as if they were forgotten. */
    private List<Claimed> admitted(WorkerLimits.Claim claim, Polled polled) {
        List<Claimed> admitted = claim.admitted(polled);
        if (admitted.size() < polled.claimed().size()) {
            reconcile = true;
        }
        return admitted;
    }

    private void measure(Session session, Polled polled, long began) {
        Measurements measurements = settings.rules().measurements();
        measurements.polled(polled.claimed().size(), settings.clockwork().nanoTime() - began);
        Instant due = nextDue;
        nextDue = polled.nextDue();
        Instant now = session.clock().now();
        if (due != null && !due.isAfter(now) && !due.equals(nextDue)) {
            measurements.woke(Duration.between(due, now));
        }
    }

    /** Passes requests on to running runs. Returns whether any of them is new. */
    private static boolean passOn(Session session, List<Dispatch.Signalled> signalled) {
        boolean news = false;
        for (Dispatch.Signalled signal : signalled) {
            news |= session.runs()
                    .execution(signal.run(), signal.epoch())
                    .map(execution -> execution.signal(signal.control()))
                    .orElse(false);
        }
        return news;
    }

    private void endExclusiveIfTime(Session session) {
        boolean lasts = settings.clockwork().nanoTime() - exclusiveSince
                < EXCLUSIVE_LEASES * rules.lease().toNanos();
        if (exclusive && !(lasts && session.runs().executions().stream().anyMatch(Execution::alone))) {
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
     * Runs that the store says a session holds, and that the session does not know.
     *
     * @param session the session
     * @param runs the runs that it seems to have forgotten
     * @param calls the calls that may still bring them
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
            suspects = null; // Also if giving back fails: then the next comparison finds them again.
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

    /** The runs that the store says the session holds, without those that the session knows. */
    private List<Leases.Owned> owned(Session session) {
        return settings.store().leases().owned(session.id()).stream()
                .filter(owned -> !session.runs().holds(owned.run()))
                .toList();
    }

    /**
     * Gives back suspects that the store still says this session holds. Under load, most suspects are not forgotten:
     * they ended after the store had read them as held, and before the session was asked whether it knows them.
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
