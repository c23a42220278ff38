package dev.perdure.postgres.limiter;

import dev.perdure.error.StoreException;
import dev.perdure.postgres.hint.PostgresHints;
import dev.perdure.postgres.jdbc.AuditText;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Database.LockedException;
import dev.perdure.postgres.jdbc.Database.RefusedException;
import dev.perdure.postgres.jdbc.Json;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.jdbc.Text;
import dev.perdure.postgres.lane.Lanes;
import dev.perdure.postgres.lane.Workers;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.LimiterInfo;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Permits;
import dev.perdure.spi.change.WorkerId;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The limiters of steps, and their permits ({@link PermitSql}).
 *
 * <p>A request is safe to repeat, also if an earlier copy of it arrives late: it takes only what the attempt holds or
 * waits for, under the epoch of its run. So it needs no lane of its own; it only checks that the worker is alive.
 */
public final class PostgresPermits implements Permits {
    private static final long TIDY_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final Database database;
    private final Query query;
    private final PermitSql sql;
    private final LimiterSql limiterSql;
    private final Workers workers;
    private final PostgresHints hints;
    private final AtomicBoolean used = new AtomicBoolean();
    private final AtomicLong nextTidying = new AtomicLong(System.nanoTime() + TIDY_NANOS);

    public PostgresPermits(
            Database database, Schema schema, LedgerSql ledgerSql, Workers workers, PostgresHints hints) {
        this.database = database;
        this.query = new Query(database);
        this.sql = new PermitSql(schema, ledgerSql);
        this.limiterSql = new LimiterSql(schema);
        this.workers = workers;
        this.hints = hints;
    }

    // ---- permits

    /**
     * The result of a look at a line.
     *
     * @param known whether there is such a limiter
     * @param looked whether the line was looked at, which it is not on a lane that is not there
     * @param held the requests that hold permits, by their numbers from 1
     * @param moving the requests of runs whose partition is closed
     * @param freeAt when more may be free, or null
     */
    private record Turn(
            boolean known,
            boolean looked,
            Set<Long> held,
            Set<Long> moving,
            boolean readied,
            List<String> signalled,
            @Nullable Instant freeAt) {}

    @Override
    public List<Answer> take(WorkerId worker, List<Request> requests) {
        Integer number = workers.number(worker);
        if (number == null) {
            return requests.stream().map(request -> Answer.WAITS).toList();
        }
        Map<String, List<Request>> byLimiter = requests.stream()
                .collect(Collectors.groupingBy(Request::limiter, LinkedHashMap::new, Collectors.toList()));
        Map<Request, Answer> answers = new LinkedHashMap<>();
        byLimiter.forEach((limiter, asked) -> {
            Turn turn = turn(limiter, number, asked);
            for (int i = 0; i < asked.size(); i++) {
                answers.put(asked.get(i), answer(turn, i + 1L));
            }
        });
        return requests.stream().map(answers::get).toList();
    }

    private static Answer answer(Turn turn, long ordinal) {
        if (!turn.known()) {
            return Answer.UNKNOWN;
        }
        if (turn.moving().contains(ordinal)) {
            return Answer.MOVING;
        }
        return turn.held().contains(ordinal) ? Answer.HELD : Answer.WAITS;
    }

    private Turn turn(String limiter, @Nullable Integer worker, List<Request> asked) {
        used.set(true);
        Turn turn;
        try {
            turn = worker == null ? look(limiter, null, null, asked) : onLane(limiter, worker, asked);
        } catch (LockedException busy) {
            throw new StoreException(
                    StoreException.Kind.UNAVAILABLE,
                    "The limiter '%s' is locked by another transaction.".formatted(limiter),
                    busy);
        }
        if (turn.readied() || (turn.held().size() < asked.size() && turn.freeAt() != null)) {
            hints.tell(new Hints.WorkReady()); // also so that a poll says when more may be free
        }
        turn.signalled().forEach(id -> hints.tell(new Hints.WorkerSignalled(new WorkerId(UUID.fromString(id)))));
        return turn;
    }

    /** A poll may have replaced the lane since its row was looked up: then nobody stands in the line yet. */
    private Turn onLane(String limiter, int worker, List<Request> asked) {
        int lane = workers.lanes().row(worker, Lanes.POLL);
        while (true) {
            Turn turn = look(limiter, worker, lane, asked);
            int now = workers.lanes().row(worker, Lanes.POLL);
            if (turn.looked() || now == lane) {
                return turn;
            }
            lane = now;
        }
    }

    private Turn look(String limiter, @Nullable Integer worker, @Nullable Integer lane, List<Request> asked) {
        return database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, worker == null ? sql.next : sql.take)) {
                Parameters parameters = new Parameters(statement);
                parameters.text(Database.LOCK_TIMEOUT);
                parameters.integer(worker).integer(lane).text(limiter).integer(worker);
                parameters.time(database.time());
                parameters.text(limiter).integer(worker).integer(worker).integer(lane);
                parameters.longs(
                        asked.stream().mapToLong(request -> request.run().key()).toArray());
                parameters.ints(asked.stream().mapToInt(Request::position).toArray());
                parameters.ints(asked.stream().mapToInt(Request::attempt).toArray());
                parameters.longs(asked.stream().mapToLong(Request::epoch).toArray());
                parameters.integer(worker);
                parameters.text(limiter);
                parameters.longs(
                        asked.stream().mapToLong(request -> request.run().key()).toArray());
                statement.execute();
                Results results = new Results(statement);
                results.skip();
                results.skip();
                return read(results.one());
            }
        });
    }

    private static Turn read(ResultSet row) throws SQLException {
        return new Turn(
                row.getBoolean("known"),
                row.getBoolean("looked"),
                Set.copyOf(Results.longs(row, "held")),
                Set.copyOf(Results.longs(row, "moving")),
                row.getBoolean("readied"),
                Results.texts(row, "signalled"),
                Results.timeOrNull(row, "free_at"));
    }

    @Override
    public void next(Set<String> limiters) {
        call(limiters.toArray(String[]::new));
    }

    /** Lets runs go on whose turn it is at any limiter; says when more may be free, or null. For polls. */
    public @Nullable Instant callAll() {
        return call(null);
    }

    private @Nullable Instant call(String @Nullable [] among) {
        List<String> waiting = query.byIndex(
                sql.waiting, parameters -> parameters.texts(among).texts(among), row -> row.getString("name"));
        List<Instant> times = new ArrayList<>();
        for (String limiter : waiting) {
            try {
                Optional.ofNullable(turn(limiter, null, List.of()).freeAt()).ifPresent(times::add);
            } catch (RefusedException unreadable) {
                database.unreadable().leave("of the limiter '%s'".formatted(limiter), unreadable);
            }
        }
        return times.stream().min(Instant::compareTo).orElse(null);
    }

    /** Deletes what no look at a line finds again, now and then, if this process has seen permits. For the sweep. */
    public void tidy() {
        long due = nextTidying.get();
        if (used.get()
                && System.nanoTime() - due >= 0
                && nextTidying.compareAndSet(due, System.nanoTime() + TIDY_NANOS)) {
            query.all(sql.tidy, parameters -> parameters.time(database.time()), row -> row.getInt(1));
        }
    }

    // ---- what operators do

    private boolean update(String statement, Query.Binding binding) {
        return query.all(statement, binding, row -> row.getLong(1)).getFirst() > 0;
    }

    @Override
    public void declare(Collection<Limiter> limiters) {
        if (!limiters.isEmpty()) {
            @Nullable
            String[] settings = limiters.stream()
                    .map(limiter -> Json.object(limiter.settings()))
                    .toArray(String[]::new);
            update(
                    limiterSql.declare,
                    parameters -> parameters
                            .texts(limiters.stream().map(Limiter::name).toArray(String[]::new))
                            .texts(settings));
            hints.tell(new Hints.WorkReady());
        }
    }

    private boolean ordered(String statement, @Nullable Audit audit, @Nullable String... texts) {
        return update(statement, AuditText.order(audit, database.time(), texts));
    }

    @Override
    public boolean apply(Order order, @Nullable Audit audit) {
        boolean found = switch (order) {
            case Order.Limit(Limiter changes) ->
                ordered(limiterSql.limit, audit, Json.object(changes.settings()), changes.name());
            case Order.Pause(String limiter, String reason) ->
                ordered(limiterSql.pause, audit, Text.storable(reason), limiter);
            case Order.Resume(String limiter) -> ordered(limiterSql.pause, audit, null, limiter);
            case Order.Reset(String limiter) -> ordered(limiterSql.reset, audit, limiter);
        };
        hints.tell(new Hints.WorkReady());
        return found;
    }

    // ---- what there is

    @Override
    public List<LimiterInfo> list() {
        return list(null);
    }

    @Override
    public Optional<LimiterInfo> find(String limiter) {
        return list(limiter).stream().findFirst();
    }

    private List<LimiterInfo> list(@Nullable String name) {
        return query.readable(
                limiterSql.list, parameters -> parameters.text(name).text(name), PostgresPermits::info);
    }

    private static LimiterInfo info(ResultSet row) throws SQLException {
        String name = row.getString("name");
        return new LimiterInfo(
                Limiter.of(name, Results.pairs(row, "declared")),
                Limiter.of(name, Results.pairs(row, "changed")),
                Optional.ofNullable(row.getString("paused")),
                row.getLong("waiting"),
                Optional.ofNullable(Results.timeOrNull(row, "oldest")),
                row.getLong("held"));
    }
}
