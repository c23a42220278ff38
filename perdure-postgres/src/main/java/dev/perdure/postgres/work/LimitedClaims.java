package dev.perdure.postgres.work;

import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Database.LockedException;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.lane.Workers;
import dev.perdure.postgres.queue.PostgresQueues;
import dev.perdure.postgres.work.QueueFloors.Floor;
import dev.perdure.postgres.write.part.Claims;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.queue.Queue;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Poll;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Claims runs of queues with limits, and runs with keys: queue by queue, each in a transaction of its own. */
public final class LimitedClaims {
    /** How often a claim that could take more is repeated at most; the next poll takes the rest. */
    private static final int MOST_CLAIMS = 8;

    private final Database database;
    private final LimitedClaimSql sql;
    private final Workers workers;
    private final PostgresQueues queues;
    private final Placements placements;
    private final boolean believes;
    private final QueueFloors floors = new QueueFloors(System::nanoTime);

    /** @param believes whether a queue without keys and rates may be claimed from by the shorter statement */
    public LimitedClaims(
            Database database,
            Schema schema,
            LedgerSql ledgerSql,
            Workers workers,
            PostgresQueues queues,
            Placements placements,
            boolean believes) {
        this.database = database;
        this.sql = new LimitedClaimSql(schema, ledgerSql);
        this.workers = workers;
        this.queues = queues;
        this.placements = placements;
        this.believes = believes;
    }

    Placements placements() {
        return placements;
    }

    PostgresQueues queues() {
        return queues;
    }

    /**
     * The result of a claim.
     *
     * @param runs the runs
     * @param aloneWaits whether a run waits for a worker that holds nothing else
     * @param freeAt when a rate next allows more, or null
     * @param waiting the queues in which runs waited
     */
    record Taken(
            List<Claimed> runs,
            boolean aloneWaits,
            @Nullable Instant freeAt,
            List<Waiting> waiting) {
        static final Taken NOTHING = new Taken(List.of(), false, null, List.of());
    }

    /**
     * A queue in which runs wait.
     *
     * @param alone whether a run waits there that has to run alone
     * @param keyed whether runs with keys wait there
     */
    record Waiting(String queue, boolean alone, boolean keyed) {}

    /**
     * The runs that one claim has taken.
     *
     * @param cut whether it could have taken more by examining further keys
     * @param keyed whether runs with keys waited
     * @param last where in the order of claims the last of them was, if they fill all free places
     * @param tookMicros how long the server looked for them, without what came before: a lock, or a connection
     */
    private record Part(
            List<Claimed> runs,
            boolean cut,
            boolean keyed,
            @Nullable Floor last,
            long tookMicros) {
        static final Part NOTHING = new Part(List.of(), false, false, null, 0);
    }

    /**
     * A claim of one queue.
     *
     * @param room how many runs at most
     * @param alone whether to take runs that have to run alone, or the others
     */
    private record Wanted(Poll request, Waiting from, int worker, int lane, int room, boolean alone) {}

    /**
     * Claims as many runs as the request allows. A run that has to run alone is taken if no other run may begin, and
     * then no other run is taken.
     */
    Taken claim(Poll request, int worker, int lane) {
        return claimBeside(request, worker, lane, List.of());
    }

    /** The same without queues from which this poll has claimed in vain. */
    Taken claimBeside(Poll request, int worker, int lane, List<Waiting> tried) {
        List<Waiting> all = waiting(request);
        Taken taken = claim(
                request,
                worker,
                lane,
                all.stream().filter(waiting -> !tried.contains(waiting)).toList());
        return new Taken(taken.runs(), taken.aloneWaits(), taken.freeAt(), all);
    }

    /** The same from these queues, in which runs waited at the last look. */
    Taken claim(Poll request, int worker, int lane, List<Waiting> queuesThatWait) {
        List<Claimed> runs = new ArrayList<>();
        boolean aloneWaits = false;
        for (Waiting waiting : queuesThatWait) {
            int most = Math.min(request.limit(), runs.size() + request.limit(waiting.queue()));
            boolean more = true;
            for (int i = 0; i < MOST_CLAIMS && more && most > runs.size(); i++) {
                Part part = claim(new Wanted(request, waiting, worker, lane, most - runs.size(), false));
                runs.addAll(part.runs());
                more = part.cut() && !part.runs().isEmpty();
            }
            if (waiting.alone() && request.aloneToo() && most > 0 && runs.isEmpty()) {
                runs.addAll(claim(new Wanted(request, waiting, worker, lane, 1, true))
                        .runs());
                if (!runs.isEmpty()) {
                    return new Taken(runs, false, null, queuesThatWait);
                }
            } else {
                aloneWaits |= waiting.alone();
            }
        }
        return new Taken(runs, aloneWaits, freeAt(queuesThatWait), queuesThatWait);
    }

    private @Nullable Instant freeAt(List<Waiting> waiting) {
        String[] rated = waiting.stream()
                .map(Waiting::queue)
                .filter(queue -> queues.known(queue).hasRates())
                .toArray(String[]::new);
        return rated.length == 0
                ? null
                : database.<@Nullable Instant>call(connection -> {
                    try (PreparedStatement statement = Database.prepare(connection, sql.freeAt)) {
                        new Parameters(statement).time(database.time()).texts(rated);
                        try (ResultSet row = statement.executeQuery()) {
                            row.next();
                            return Results.timeOrNull(row, "free_at");
                        }
                    }
                });
    }

    private List<Waiting> waiting(Poll request) {
        return database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.waiting)) {
                bindQueues(new Parameters(statement).text(Database.LOCK_TIMEOUT), request);
                statement.execute();
                Results results = new Results(statement);
                results.skip();
                ResultSet rows = results.next();
                List<Waiting> waiting = new ArrayList<>();
                while (rows.next()) {
                    waiting.add(
                            new Waiting(rows.getString("name"), rows.getBoolean("alone"), rows.getBoolean("keyed")));
                }
                return waiting;
            }
        });
    }

    /** The queues of the worker, and which queues have limits. */
    Parameters bindQueues(Parameters parameters, Poll request) throws SQLException {
        return parameters
                .texts(request.queues().stream().filter(queues::isReadable).toArray(String[]::new))
                .texts(queues.limited());
    }

    private Part claim(Wanted wanted) {
        try {
            if (!isPlain(wanted.from())) {
                return database.call(connection -> claim(connection, wanted, null));
            }
            Part part = plain(wanted);
            return part.keyed() // since the queues were read
                    ? database.call(connection -> claim(connection, wanted, null))
                    : part;
        } catch (LockedException other) {
            return Part.NOTHING; // Another worker has been claiming from it for long.
        } catch (RuntimeException | Error failure) {
            workers.lanes().failed(wanted.worker(), wanted.lane(), failure);
            throw failure;
        }
    }

    /** Claims by the shorter statement, from where the last claim stopped. */
    private Part plain(Wanted wanted) {
        Poll request = wanted.request();
        String queue = wanted.from().queue();
        List<String> versions = placements.versions(request);
        Floor floor = wanted.alone() ? Floor.BEGINNING : floors.floor(queue, request, versions);
        Part part = database.call(connection -> claim(connection, wanted, floor));
        Floor last = part.last();
        if (last != null && !wanted.alone()) {
            floors.filled(queue, request, versions, floor, last, TimeUnit.MICROSECONDS.toNanos(part.tookMicros()));
        } else if (!wanted.alone()) {
            floors.ranDry(queue, request, versions);
        }
        return part;
    }

    /** Whether the shorter statement is sufficient: no runs with keys wait, and the order is priority and age. */
    private boolean isPlain(Waiting waiting) {
        Queue limits = queues.known(waiting.queue());
        return believes
                && !waiting.keyed()
                && !limits.hasRates()
                && limits.ageing().isEmpty();
    }

    /** @param floor where to begin, by the shorter statement; null for the other */
    private Part claim(Connection connection, Wanted wanted, @Nullable Floor floor) throws SQLException {
        String queue = wanted.from().queue();
        int worker = wanted.worker();
        int lane = wanted.lane();
        try (PreparedStatement statement = Database.prepare(connection, floor == null ? sql.claim : sql.claimUnkeyed)) {
            Parameters parameters = new Parameters(statement);
            parameters.text(Database.LOCK_TIMEOUT);
            parameters
                    .integer(worker)
                    .integer(lane)
                    .text(queue)
                    .text(queue)
                    .text(queue)
                    .time(database.time());
            parameters.text(queue).integer(wanted.room()).bool(wanted.alone()).integer(worker);
            parameters.integer(worker).integer(lane);
            Suiting.of(wanted.request(), placements.versions(wanted.request())).bind(parameters);
            if (floor != null) {
                parameters
                        .integer(floor.rank())
                        .time(floor.since())
                        .number(floor.key())
                        .number(floor.rank())
                        .bool(!floor.equals(Floor.BEGINNING));
            }
            Suiting.bindPins(parameters, wanted.request());
            statement.execute();
            Results results = new Results(statement);
            results.skip();
            boolean keyed = results.one().getBoolean("keyed");
            return floor == null ? inTurns(results.next(), keyed) : byAge(results.next(), keyed);
        }
    }

    private Part inTurns(ResultSet rows, boolean keyed) throws SQLException {
        List<Claimed> claimed = new ArrayList<>();
        boolean cut = false;
        while (rows.next()) {
            Claims.add(rows, database.unreadable(), claimed);
            cut = rows.getBoolean("cut");
        }
        return new Part(claimed, cut, keyed, null, 0);
    }

    private Part byAge(ResultSet rows, boolean keyed) throws SQLException {
        List<Claimed> claimed = new ArrayList<>();
        Floor last = null;
        long left = 0;
        long took = 0;
        while (rows.next()) {
            Claims.add(rows, database.unreadable(), claimed);
            boolean begins = rows.getInt("pick") > 0;
            left = (last == null ? rows.getLong("wanted") : left) - (begins ? 1 : 0);
            last = begins ? new Floor(rows.getInt("rank"), Results.time(rows, "since"), rows.getLong("key")) : last;
            took = rows.getLong("took");
        }
        return new Part(claimed, false, keyed, left == 0 ? last : null, took);
    }
}
