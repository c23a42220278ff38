package dev.perdure.postgres;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.postgres.write.Planner;
import dev.perdure.postgres.write.PostgresLedger;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Leases.Joining;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.shard.Exchange.Membership;
import dev.perdure.spi.shard.ShardMap;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.postgresql.PGStatement;

/** One of two stores that are told the same, and what it has made of it, with ids in the place of keys. */
final class Twin {
    static final WorkerId WORKER = new WorkerId(new UUID(0, 1));
    private static final Pattern KEY = Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}|\\d{8,}");

    final PostgresStore store;
    private final String schema;
    private final DataSource source;
    private final String tables;

    Twin(DataSource source, String schema, Supplier<Instant> time, boolean believes) {
        this.source = source;
        this.schema = schema;
        this.store = PostgresStore.on(source)
                .schema(schema)
                .notifications(false)
                .time(time)
                .believing(believes)
                .open();
        // What leases and migrations write tells nothing of batches, and the secret is a schema's own.
        this.tables = TestServer.query("""
                SELECT string_agg(format(CASE tablename
                        -- A batch that is sent again leaves gaps in these numbers.
                        WHEN 'outgoing' THEN 'SELECT %%L || (to_jsonb(t) - ''number'')::text FROM %%I.%%I t'
                        ELSE 'SELECT %%L || row_to_json(t)::text FROM %%I.%%I t' END, tablename || ' ', schemaname, tablename),
                    ' UNION ALL ')
                FROM pg_tables WHERE schemaname = '%s' AND tablename NOT IN ('worker', 'lane', 'migration', 'secret')
                """.formatted(schema));
    }

    Planner.Counts plans() {
        return ((PostgresLedger) store.ledger()).plans();
    }

    void empty() {
        TestServer.empty(schema);
        store.exchange().orElseThrow().join(new Membership("a", ShardMap.first(List.of("a", "b"))));
        store.leases().join(new Joining(WORKER, Set.of("order"), null, Duration.ofMinutes(10), 2));
    }

    /** A run as its row says. */
    record Row(
            String id, long key, long epoch, boolean held, RunState state, boolean dag, boolean task, String object) {}

    List<Row> runs() {
        return query(
                """
                SELECT r.id, r.key, r.epoch, r.owner IS NOT NULL AS held, %1$s.state_name(r.state) AS state,
                       r.after IS NOT NULL AND r.before IS NULL AS dag, r.before IS NOT NULL AS task,
                       CASE WHEN c.hold = 1 THEN c.object_key END AS object
                FROM %1$s.run r LEFT JOIN %1$s.object_call c ON c.key = r.key ORDER BY r.id
                """.formatted(schema),
                rows -> new Row(
                        rows.getString("id"),
                        rows.getLong("key"),
                        rows.getLong("epoch"),
                        rows.getBoolean("held"),
                        RunState.valueOf(rows.getString("state")),
                        rows.getBoolean("dag"),
                        rows.getBoolean("task"),
                        rows.getString("object")));
    }

    Row run(String id) {
        return runs().stream().filter(row -> row.id().equals(id)).findFirst().orElseThrow();
    }

    /** What came of a round, in words. */
    List<String> play(RandomBatches.Round round) {
        Map<String, Row> byId = runs().stream().collect(Collectors.toMap(Row::id, row -> row));
        List<String> told = new ArrayList<>();
        List<Change> changes = round.changes(id -> ref(byId, id));
        Lane lane = round.ofClient() ? Lane.client(0) : new Lane(WORKER, 0);
        for (int i = 0; i < round.times(); i++) {
            store.ledger().apply(lane, changes).forEach(outcome -> told.add(word(outcome)));
        }
        if (round.claims() > 0) {
            store.dispatch()
                    .poll(new Poll(WORKER, Set.of("order"), Set.of("default"), null, round.claims(), true))
                    .claimed()
                    .forEach(claimed -> told.add("claimed " + word(claimed)));
        }
        return told;
    }

    private static RunRef ref(Map<String, Row> byId, String id) {
        Row row = byId.get(id);
        return new RunRef(RunId.of(id), row == null ? 0 : row.key());
    }

    static String word(Outcome outcome) {
        return switch (outcome) {
            case Outcome.Started started ->
                "started %s %s %s %s"
                        .formatted(started.run().id(), started.owned(), started.at(), words(started.handed()));
            case Outcome.Existing existing ->
                "existing %s %s %s".formatted(existing.run().id(), existing.definition(), existing.sameInput());
            case Outcome.Applied applied ->
                "applied %s %s %s %s"
                        .formatted(applied.at(), applied.state(), words(applied.handed()), words(applied.next()));
            default -> outcome.toString();
        };
    }

    private static List<String> words(List<Claimed> claims) {
        return claims.stream().map(Twin::word).toList();
    }

    static String word(Claimed claimed) {
        return "%s %d %s %s %d %s"
                .formatted(
                        claimed.run().id(),
                        claimed.epoch(),
                        claimed.control(),
                        claimed.deadline(),
                        claimed.recoveries(),
                        claimed.premises().stream()
                                .map(premise -> premise.run().id() + " " + premise.state() + " " + premise.reason())
                                .toList());
    }

    /** All rows of all tables, with every column that there is. */
    List<String> rows() {
        Map<String, String> ids = new HashMap<>();
        runs().forEach(row -> {
            ids.put(String.valueOf(row.key()), row.id());
            // The token of a child's answer begins with the child's key.
            ids.put(new UUID(row.key(), 0).toString().substring(0, 18), row.id());
        });
        return query(
                        tables,
                        rows -> KEY.matcher(rows.getString(1))
                                .replaceAll(found -> ids.getOrDefault(found.group(), found.group())))
                .stream()
                .sorted()
                .toList();
    }

    /** The states that each run has been in, in their order. */
    List<List<RunState>> moves() {
        return List.copyOf(query(
                        "SELECT id, state FROM %s.events ORDER BY id, number".formatted(schema),
                        rows -> Map.entry(rows.getString("id"), RunState.valueOf(rows.getString("state"))))
                .stream()
                .collect(Collectors.groupingBy(
                        Map.Entry::getKey, Collectors.mapping(Map.Entry::getValue, Collectors.toList())))
                .values());
    }

    /** Reads a row. */
    private interface Reading<T> {
        T of(ResultSet row) throws SQLException;
    }

    /** The server plans it once per connection: a test asks the same hundreds of times, of forty tables. */
    private static PreparedStatement planned(Connection connection, String sql) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        statement.unwrap(PGStatement.class).setPrepareThreshold(1);
        return statement;
    }

    private <T> List<T> query(String sql, Reading<T> reading) {
        try (Connection connection = source.getConnection();
                PreparedStatement statement = planned(connection, sql);
                ResultSet rows = statement.executeQuery()) {
            List<T> all = new ArrayList<>();
            while (rows.next()) {
                all.add(reading.of(rows));
            }
            return all;
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }
}
