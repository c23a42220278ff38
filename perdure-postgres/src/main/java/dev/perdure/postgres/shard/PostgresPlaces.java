package dev.perdure.postgres.shard;

import dev.perdure.postgres.hint.PostgresHints;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Json;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Query.Binding;
import dev.perdure.postgres.jdbc.Query.Reader;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.Hints;
import dev.perdure.spi.shard.Giving;
import dev.perdure.spi.shard.Places;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The shares of a PostgreSQL database of the limits that several shards have together.
 *
 * <p>How it works: every change locks the row of the queue or limiter first, as claims do, and counts what was given in a later
 * statement, whose snapshot has everything that earlier claims have taken. The share is a row of its own; the same transaction
 * writes it into the settings, which claims read. Lock order: queue or limiter, then share.
 */
public final class PostgresPlaces implements Places {
    private final Database database;
    private final PlacesSql queues;
    private final PlacesSql limiters;
    private final PostgresHints hints;
    private final Runnable divided;

    /** @param divided what this process does when limits of queues were divided: it reads them again */
    public PostgresPlaces(Database database, Schema schema, PostgresHints hints, Runnable divided) {
        this.divided = divided;
        this.database = database;
        this.queues = new PlacesSql(schema, Kind.QUEUE);
        this.limiters = new PlacesSql(schema, Kind.LIMITER);
        this.hints = hints;
    }

    private PlacesSql sql(Limit limit) {
        return limit.kind() == Kind.QUEUE ? queues : limiters;
    }

    private static <T> Optional<T> one(Connection connection, String sql, Binding binding, Reader<T> reader)
            throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql)) {
            binding.bind(new Parameters(statement));
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(reader.read(row)) : Optional.empty();
            }
        }
    }

    private static void update(Connection connection, String sql, Binding binding) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql)) {
            binding.bind(new Parameters(statement));
            statement.executeUpdate();
        }
    }

    /**
     * The settings of a queue or limiter whose row is locked.
     *
     * @param concurrency how many places claims give, or null
     * @param begun whether runs keep their places while they wait
     */
    private record Settings(@Nullable Integer concurrency, boolean begun, boolean paused) {}

    private Optional<Settings> lock(Connection connection, Limit limit) throws SQLException {
        return one(connection, sql(limit).lock, parameters -> parameters.text(limit.name()), row -> {
            int concurrency = row.getInt("concurrency");
            return new Settings(row.wasNull() ? null : concurrency, row.getBoolean("begun"), row.getBoolean("paused"));
        });
    }

    /**
     * A share.
     *
     * @param aside how many places are set aside for shards that have asked lately
     * @param noted how many are set aside, also for those that have not
     * @param fresh whether places have come lately
     * @param sent what was sent to a shard, and received what was received from it
     */
    private record Held(Share share, int aside, int noted, boolean fresh, long sent, long received) {
        boolean takesPart(long division) {
            return share.settled()
                    && share.division().number() == division
                    && share.division().whole() != UNLIMITED;
        }
    }

    private Optional<Held> held(Connection connection, Limit limit, String other) throws SQLException {
        return one(
                connection,
                sql(limit).share,
                parameters -> parameters
                        .text(other)
                        .text(other)
                        .time(database.time())
                        .text(limit.kind().name())
                        .text(limit.name()),
                row -> new Held(
                        share(row),
                        row.getInt("aside"),
                        row.getInt("noted_aside"),
                        row.getBoolean("fresh"),
                        row.getLong("sent_there"),
                        row.getLong("received_there")));
    }

    private static Share share(ResultSet row) throws SQLException {
        return new Share(
                new Limit(Kind.valueOf(row.getString("kind")), row.getString("name")),
                new Division(row.getLong("division"), row.getInt("whole"), Results.texts(row, "shards")),
                row.getInt("joined"),
                row.getInt("places"),
                row.getBoolean("settled"));
    }

    @Override
    public List<Share> shares() {
        return database.call(connection -> {
            List<Share> shares = new ArrayList<>();
            try (PreparedStatement statement = Database.prepare(connection, queues.shares);
                    ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    shares.add(share(rows));
                }
            }
            return shares;
        });
    }

    @Override
    public void open(Limit limit, Map<String, String> declared, Division first, int places) {
        database.inTransaction(connection -> {
            if (create(connection, limit, declared)) {
                store(connection, new Share(limit, first, places, places, true));
            }
            return true;
        });
        announce();
    }

    private void announce() {
        divided.run();
        hints.tell(new Hints.WorkReady());
    }

    private boolean create(Connection connection, Limit limit, Map<String, String> declared) throws SQLException {
        return one(
                        connection,
                        sql(limit).create,
                        parameters -> parameters.text(limit.name()).text(Json.object(declared)),
                        row -> true)
                .isPresent();
    }

    private void store(Connection connection, Share share) throws SQLException {
        Limit limit = share.limit();
        Division division = share.division();
        update(
                connection,
                sql(limit).join,
                parameters -> parameters
                        .text(limit.kind().name())
                        .text(limit.name())
                        .number(division.number())
                        .integer(division.whole())
                        .texts(division.shards())
                        .integer(share.joined())
                        .integer(share.places())
                        .bool(share.settled()));
        tell(connection, sql(limit).tellAll, share, share.places());
    }

    private static void tell(Connection connection, String sql, Share share, int places) throws SQLException {
        String settings = Json.object(Places.settings(share.division(), places));
        update(
                connection,
                sql,
                parameters -> parameters.text(settings).text(share.limit().name()));
    }

    private int given(Connection connection, Limit limit, Settings settings) throws SQLException {
        return one(
                        connection,
                        sql(limit).given,
                        parameters -> {
                            parameters.text(limit.name());
                            if (limit.kind() == Kind.QUEUE) {
                                parameters.bool(settings.begun());
                            }
                        },
                        row -> row.getInt(1))
                .orElseThrow();
    }

    private int waiting(Connection connection, Limit limit, Settings settings) throws SQLException {
        return settings.paused()
                ? 0
                : one(
                                connection,
                                sql(limit).waiting,
                                parameters -> {
                                    parameters.text(limit.name());
                                    if (limit.kind() == Kind.QUEUE) {
                                        parameters.text(limit.name());
                                    }
                                },
                                row -> Math.min(PlacesSql.MOST_WANTED, row.getInt(1)))
                        .orElseThrow();
    }

    @Override
    public Share join(Limit limit, Division division, int places) {
        Share joined = database.inTransaction(connection -> {
            boolean isNew = create(connection, limit, Map.of());
            Settings settings = lock(connection, limit).orElseThrow();
            Share before = held(connection, limit, "").map(Held::share).orElse(null);
            if (before != null && before.division().number() >= division.number()) {
                return before;
            }
            int has = before == null ? had(settings, isNew || division.number() > 1) : before.places();
            int now = Math.min(has, Math.max(places, given(connection, limit, settings)));
            Share share = new Share(limit, division, now, now, false);
            store(connection, share);
            return share;
        });
        announce();
        return joined;
    }

    /** What claims have given without a division: nothing on a shard that others had already when this one was added. */
    private static int had(Settings settings, boolean nothing) {
        if (nothing) {
            return 0;
        }
        Integer concurrency = settings.concurrency();
        return concurrency == null ? UNLIMITED : concurrency;
    }

    @Override
    public void settle(Limit limit, long division, int places) {
        database.inTransaction(connection -> {
            if (lock(connection, limit).isEmpty()) {
                return false;
            }
            Share share = held(connection, limit, "").map(Held::share).orElse(null);
            if (share == null || share.settled() || share.division().number() != division) {
                return false;
            }
            int now = places == UNLIMITED ? UNLIMITED : share.places() + places - share.joined();
            update(
                    connection,
                    sql(limit).settle,
                    parameters ->
                            parameters.integer(now).text(limit.kind().name()).text(limit.name()));
            tell(connection, sql(limit).tellAll, share, now);
            return true;
        });
        announce();
    }

    @Override
    public void dissolve(Limit limit) {
        database.inTransaction(connection -> {
            lock(connection, limit);
            update(
                    connection,
                    sql(limit).remove,
                    parameters -> parameters.text(limit.kind().name()).text(limit.name()));
            update(connection, sql(limit).forget, parameters -> parameters.text(limit.name()));
            return true;
        });
        announce();
    }

    @Override
    public List<Need> needs() {
        List<Need> needs = new ArrayList<>();
        boolean[] taken = new boolean[1];
        for (Share share : shares()) {
            if (share.settled() && share.division().whole() != UNLIMITED) {
                database.inTransaction(connection -> need(connection, share.limit(), taken))
                        .ifPresent(needs::add);
            }
        }
        if (taken[0]) {
            hints.tell(new Hints.WorkReady());
        }
        return needs;
    }

    private Optional<Need> need(Connection connection, Limit limit, boolean[] taken) throws SQLException {
        Settings settings = lock(connection, limit).orElse(null);
        Held held = held(connection, limit, "").orElse(null);
        int waiting = settings == null ? 0 : waiting(connection, limit, settings);
        if (held == null || settings == null || waiting == 0) {
            return Optional.empty();
        }
        Share share = held.share();
        if (held.aside() < held.noted()) {
            give(connection, share, new Giving(0, held.aside()), "");
            taken[0] = true;
        }
        int whole = share.division().whole();
        return share.places() < whole && given(connection, limit, settings) >= share.places() - held.aside()
                ? Optional.of(new Need(
                        limit,
                        share.division().number(),
                        share.places(),
                        Math.min(waiting, whole - share.places()),
                        sent(connection, limit)))
                : Optional.empty();
    }

    private Map<String, Long> sent(Connection connection, Limit limit) throws SQLException {
        Map<String, Long> sent = new HashMap<>();
        try (PreparedStatement statement = Database.prepare(connection, sql(limit).sent)) {
            new Parameters(statement).text(limit.kind().name()).text(limit.name());
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    sent.put(rows.getString("key"), rows.getLong("total"));
                }
            }
        }
        return sent;
    }

    @Override
    public OptionalLong give(Request request) {
        Limit limit = request.limit();
        return database.inTransaction(connection -> {
            Settings settings = lock(connection, limit).orElse(null);
            Held first = held(connection, limit, request.by()).orElse(null);
            if (settings == null || first == null || !first.takesPart(request.division())) {
                return OptionalLong.empty();
            }
            Held held = take(connection, first, request.by(), request.sent()) > 0
                    ? held(connection, limit, request.by()).orElseThrow()
                    : first;
            Giving giving = Giving.of(
                    new Giving.State(
                            held.share().places(),
                            given(connection, limit, settings),
                            held.aside(),
                            waiting(connection, limit, settings) > 0,
                            held.fresh()),
                    request);
            if (giving.sent() > 0 || giving.aside() > 0 || held.noted() > 0) {
                give(connection, held.share(), giving, request.by());
            }
            return OptionalLong.of(held.sent() + giving.sent());
        });
    }

    private void give(Connection connection, Share share, Giving giving, String other) throws SQLException {
        Limit limit = share.limit();
        update(
                connection,
                sql(limit).give,
                parameters -> parameters
                        .time(database.time())
                        .integer(giving.sent())
                        .integer(giving.aside())
                        .text(other)
                        .text(limit.kind().name())
                        .text(limit.name()));
        tell(connection, sql(limit).tell, share, share.places() - giving.sent() - giving.aside());
    }

    private int take(Connection connection, Held held, String from, long total) throws SQLException {
        Share share = held.share();
        Limit limit = share.limit();
        int more = (int) Math.max(0, total - held.received());
        if (more > 0) {
            update(
                    connection,
                    sql(limit).receive,
                    parameters -> parameters
                            .integer(more)
                            .time(database.time())
                            .text(from)
                            .number(total)
                            .text(limit.kind().name())
                            .text(limit.name()));
            tell(connection, sql(limit).tell, share, share.places() + more - held.noted());
        }
        return more;
    }

    @Override
    public int receive(Limit limit, long division, String from, long total) {
        int came = database.inTransaction(connection -> {
            if (lock(connection, limit).isEmpty()) {
                return 0;
            }
            Held held = held(connection, limit, from).orElse(null);
            return held == null || held.share().division().number() != division
                    ? 0
                    : take(connection, held, from, total);
        });
        if (came > 0) {
            hints.tell(new Hints.WorkReady());
        }
        return came;
    }
}
