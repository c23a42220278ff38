package dev.perdure.postgres.work;

import dev.perdure.RunChange;
import dev.perdure.error.StoreException;
import dev.perdure.postgres.inbox.InboxReader;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Database.LockedException;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.lane.Lanes;
import dev.perdure.postgres.lane.Workers;
import dev.perdure.postgres.limiter.PostgresPermits;
import dev.perdure.postgres.queue.PostgresQueues;
import dev.perdure.postgres.work.LimitedClaims.Taken;
import dev.perdure.postgres.work.LimitedClaims.Waiting;
import dev.perdure.postgres.write.PostgresLedger;
import dev.perdure.postgres.write.part.Claims;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Hints;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Gives workers their work. A poll is one round trip, and a second one if runs in memory were signalled. A poll that
 * sees requests in the inbox also applies them; the next poll finds the runs that become ready by that. Runs because of
 * which the server refuses a poll are paused ({@link StuckRuns}).
 */
public final class PostgresDispatch implements Dispatch {
    private final Database database;
    private final DispatchSql sql;
    private final Claims claims;
    private final Workers workers;
    private final InboxReader inbox;
    private final StartLimits startLimits;
    private final PostgresLedger ledger;
    private final Watermark watermark;
    private final StuckRuns stuckRuns;
    private final LateRuns lateRuns;
    private final PostgresQueues queues;
    private final PostgresPermits permits;
    private final LimitedClaims limitedClaims;
    private final Placements placements;
    private final PollOrder order = new PollOrder(System::nanoTime);

    public PostgresDispatch(
            Database database,
            Schema schema,
            LedgerSql ledgerSql,
            Workers workers,
            LimitedClaims limitedClaims,
            PostgresPermits permits,
            InboxReader inbox,
            StartLimits startLimits,
            LateRuns lateRuns,
            PostgresLedger ledger,
            Watermark watermark,
            Hints hints) {
        this.database = database;
        this.sql = new DispatchSql(schema, ledgerSql);
        this.claims = new Claims(schema, ledgerSql, database);
        this.workers = workers;
        this.inbox = inbox;
        this.startLimits = startLimits;
        this.lateRuns = lateRuns;
        this.ledger = ledger;
        this.watermark = watermark;
        this.placements = limitedClaims.placements();
        this.stuckRuns = new StuckRuns(database, sql, workers.lanes(), placements);
        this.queues = limitedClaims.queues();
        this.limitedClaims = limitedClaims;
        this.permits = permits;
        hints.subscribe(this::hear);
    }

    private void hear(Hints.Hint hint) {
        switch (hint) {
            case Hints.WorkReady ready -> order.hear();
            case Hints.WorkerSignalled signalled -> order.hear();
            case Hints.MailArrived mail -> order.hear();
            case Hints.LeaseInDoubt doubt -> {}
            case Hints.RunEnded ended -> {}
            case Hints.RunShows shows -> {}
            case Hints.OutgoingKept kept -> {}
            case Hints.CallsWait wait -> {}
            case Hints.PartitionsMoved moved -> {}
        }
    }

    @Override
    public Polled poll(Poll request) {
        Integer worker = workers.number(request.worker());
        if (worker == null) {
            return new Polled(List.of(), List.of(), null, false);
        }
        List<RunChange> changed = new ArrayList<>();
        PollOrder.Beginning beginning = order.begin(worker, request.limit());
        Taken first = limitedFirst(request, worker, beginning, changed);
        if (beginning.quiet() && !first.runs().isEmpty()) {
            return new Polled(
                    first.runs(),
                    List.of(),
                    earliest(beginning.nextDue(), first.freeAt()),
                    first.aloneWaits(),
                    changed,
                    true);
        }
        Answer answer = ask(without(request, first.runs()), worker, changed);
        if (!answer.alive()) {
            order.forget(worker);
            return new Polled(List.of(), List.of(), null, false);
        }
        if (answer.inboxWaits()) {
            inbox.read();
        }
        boolean looked = request.limit() > 0; // a worker without room cannot tell what waits
        if (looked && answer.isQuiet() && first.runs().isEmpty()) {
            order.foundNothingElse(worker, beginning, answer.nextDue());
        } else {
            order.mayFindMore(worker);
        }
        queues.saw(answer.queueRevision());
        List<Claimed> claimed = new ArrayList<>(first.runs());
        claimed.addAll(answer.claimed());
        if (answer.preferenceOver() || answer.placementNews()) {
            claimed.addAll(placed(without(request, claimed), answer.preferenceOver(), worker, changed));
        }
        Taken last = Taken.NOTHING;
        if (answer.limitedWaits() && first.runs().isEmpty()) {
            List<Waiting> tried = answer.woke() ? List.of() : first.waiting();
            last = limitedBeside(tried, without(request, claimed), worker, changed);
            order.waiting(worker, last.waiting());
        } else if (!answer.limitedWaits()) {
            order.waiting(worker, List.of());
        }
        claimed.addAll(last.runs());
        if (answer.limitsDue()) {
            changed.addAll(startLimits.expire());
        }
        if (answer.keysFree()) {
            ledger.releaseKeys();
        }
        if (answer.keysStale()) {
            ledger.forgetKeys();
        }
        Instant permit = answer.permitsWait() ? permits.callAll() : null;
        Instant late = answer.latenessCounts() ? lateRuns.find() : null;
        return new Polled(
                claimed,
                signalled(answer.signalled(), worker),
                earliest(late, earliest(earliest(answer.nextDue(), permit), earliest(first.freeAt(), last.freeAt()))),
                answer.aloneWaits() || first.aloneWaits() || last.aloneWaits(),
                changed,
                answer.limitedWaits());
    }

    private static @Nullable Instant earliest(@Nullable Instant one, @Nullable Instant other) {
        return one == null || (other != null && other.isBefore(one)) ? other : one;
    }

    /** How many more runs to claim after these: none beside a run that has to run alone. */
    private static Poll without(Poll request, List<Claimed> claimed) {
        if (claimed.isEmpty()) {
            return request;
        }
        int room = claimed.stream().anyMatch(Claimed::alone) ? 0 : request.limit() - claimed.size();
        return request.forAtMost(room, false);
    }

    /** Claims runs that this worker may take only now, because they preferred others or their labels are new. */
    private List<Claimed> placed(Poll request, boolean preferenceOver, int worker, List<RunChange> changed) {
        List<String> before = placements.versions(request);
        Placements.Looked looked = placements.look(preferenceOver);
        changed.addAll(looked.cancelled());
        boolean more = looked.freed() || !before.containsAll(placements.versions(request));
        return more && request.limit() > 0 ? ask(request, worker, changed).claimed() : List.of();
    }

    private Taken limitedFirst(Poll request, int worker, PollOrder.Beginning beginning, List<RunChange> paused) {
        if (beginning.queues().isEmpty()) {
            return Taken.NOTHING;
        }
        Poll first = request.forAtMost(beginning.room(), request.aloneToo());
        return limited(first, worker, paused, lane -> limitedClaims.claim(first, worker, lane, beginning.queues()));
    }

    private Taken limitedBeside(List<Waiting> tried, Poll request, int worker, List<RunChange> paused) {
        return limited(request, worker, paused, lane -> limitedClaims.claimBeside(request, worker, lane, tried));
    }

    /**
     * Claims from queues with limits. If the server refuses the claim because of some runs, claims again without these.
     */
    private Taken limited(Poll request, int worker, List<RunChange> paused, IntFunction<Taken> claim) {
        try {
            return claim.apply(workers.lanes().row(worker, Lanes.POLL));
        } catch (RuntimeException failed) {
            if (!StuckRuns.isOfOneRow(failed)) {
                throw failed;
            }
            int before = paused.size();
            paused.addAll(stuckRuns.setAside(request, worker));
            if (paused.size() == before && !queues.findUnreadable()) {
                throw failed;
            }
            return limitedClaims.claim(request, worker, workers.lanes().row(worker, Lanes.POLL));
        }
    }

    /** Polls. If the server refuses the poll because of some runs, polls again without these. */
    private Answer ask(Poll request, int worker, List<RunChange> paused) {
        List<String> versions = placements.versions(request);
        try {
            return ask(request, versions, worker);
        } catch (RuntimeException failed) {
            if (!StuckRuns.isOfOneRow(failed)) {
                throw failed;
            }
            paused.addAll(stuckRuns.setAside(request, worker));
            if (paused.isEmpty()) {
                throw failed;
            }
            return ask(request, versions, worker);
        }
    }

    private Answer ask(Poll request, List<String> versions, int worker) {
        Watermark.Floor floor = watermark.floor(request, versions);
        int lane = workers.lanes().row(worker, Lanes.POLL);
        try {
            return database.call(connection -> poll(connection, request, versions, worker, lane, floor));
        } catch (LockedException expiring) {
            throw new StoreException(
                    StoreException.Kind.UNAVAILABLE,
                    "The lane of this worker is locked by another transaction.",
                    expiring);
        } catch (RuntimeException | Error failure) {
            workers.lanes().failed(worker, lane, failure);
            throw failure;
        }
    }

    private List<Signalled> signalled(List<Long> keys, int worker) {
        Map<Long, Claimed> details =
                claims.read(keys.stream().mapToLong(Long::longValue).toArray(), worker);
        return keys.stream()
                .map(details::get)
                .filter(Objects::nonNull)
                .map(run -> new Signalled(run.run(), run.epoch(), run.control()))
                .toList();
    }

    /** The answer of the poll itself: of signalled runs it has only the keys. */
    private record Answer(
            boolean woke,
            List<Claimed> claimed,
            List<Long> signalled,
            @Nullable Instant nextDue,
            boolean aloneWaits,
            boolean inboxWaits,
            boolean limitedWaits,
            long queueRevision,
            boolean limitsDue,
            boolean latenessCounts,
            boolean keysFree,
            boolean keysStale,
            boolean permitsWait,
            boolean placementNews,
            boolean preferenceOver,
            boolean alive) {
        /** Whether nothing but runs of queues with limits may wait. */
        boolean isQuiet() {
            return claimed.isEmpty()
                    && signalled.isEmpty()
                    && !aloneWaits
                    && !inboxWaits
                    && !limitsDue
                    && !keysFree
                    && !keysStale
                    && !permitsWait
                    && !placementNews
                    && !preferenceOver;
        }
    }

    private Answer poll(
            Connection connection, Poll request, List<String> versions, int worker, int lane, Watermark.Floor floor)
            throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql.poll)) {
            Parameters parameters = new Parameters(statement);
            parameters.text(Database.LOCK_TIMEOUT).integer(worker).integer(lane).time(database.time());
            parameters.integer(worker).integer(worker).integer(lane);
            unlimited(parameters, request, versions).integer(worker).integer(lane);
            limitedClaims.bindQueues(parameters, request).texts(placements.known());
            parameters.time(database.time());
            parameters.integer(worker).integer(lane).time(database.time());
            unlimited(parameters, request, versions).bool(request.aloneToo() && request.limit() > 0);
            parameters
                    .integer(floor.rank())
                    .time(floor.since())
                    .number(floor.rank())
                    .bool(floor.urgentToo())
                    .integer(request.limit())
                    .integer(request.limit());
            Suiting.bindPins(parameters.integer(worker).integer(worker), request);
            statement.execute();
            return read(new Results(statement), request, versions, floor);
        }
    }

    /** The queues without limits. */
    private Parameters unlimited(Parameters parameters, Poll request, List<String> versions) throws SQLException {
        return suiting(
                parameters,
                request,
                request.queues().stream().filter(queue -> !queues.limits(queue)).toArray(String[]::new),
                versions);
    }

    static Parameters suiting(Parameters parameters, Poll request, String[] from, List<String> versions)
            throws SQLException {
        return Suiting.of(request, versions).bind(parameters.texts(from));
    }

    private Answer read(Results results, Poll request, List<String> versions, Watermark.Floor floor)
            throws SQLException {
        results.skip();
        boolean woke = results.one().getLong(1) > 0;
        List<Long> signalled = new ArrayList<>();
        ResultSet rows = results.next();
        while (rows.next()) {
            signalled.add(rows.getLong("key"));
        }
        ResultSet outlook = results.one();
        Instant nextDue = Results.timeOrNull(outlook, "next_due");
        long loners = outlook.getLong("loners");
        boolean limitsDue = outlook.getBoolean("limits_due");
        boolean latenessCounts = outlook.getBoolean("lateness_counts");
        boolean keysFree = outlook.getBoolean("keys_free");
        boolean keysStale = outlook.getBoolean("keys_stale");
        boolean permitsWait = outlook.getBoolean("permits_wait");
        boolean inboxWaits = outlook.getBoolean("inbox_waits");
        boolean limited = outlook.getBoolean("limited_waits");
        long revision = outlook.getLong("queue_revision");
        boolean placementNews = outlook.getBoolean("placement_news");
        boolean preferenceOver = outlook.getBoolean("preference_over");
        boolean alive = outlook.getBoolean("alive");

        List<Claimed> claimed = new ArrayList<>();
        Watermark.@Nullable Floor reached = null;
        long took = 0;
        rows = results.next();
        while (rows.next()) {
            Claims.add(rows, database.unreadable(), claimed);
            reached = new Watermark.Floor(rows.getInt("rank"), Results.time(rows, "since"), true);
            took = rows.getLong("took");
            loners -= rows.getBoolean("alone") ? 1 : 0;
        }
        watermark.saw(request, versions, floor, reached, claimed.size(), took);
        return new Answer(
                woke,
                claimed,
                signalled,
                nextDue,
                loners > 0,
                inboxWaits,
                limited,
                revision,
                limitsDue,
                latenessCounts,
                keysFree,
                keysStale,
                permitsWait,
                placementNews,
                preferenceOver,
                alive);
    }
}
