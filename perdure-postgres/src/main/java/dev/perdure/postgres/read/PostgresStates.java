package dev.perdure.postgres.read;

import dev.perdure.RunId;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.postgres.write.part.ObjectSql;
import dev.perdure.spi.States;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SortedMap;
import java.util.TreeMap;

/** Reads the states of virtual objects. */
public final class PostgresStates implements States {
    private final Database database;
    private final Query query;
    private final ObjectSql sql;
    private final ObjectListSql lists;

    public PostgresStates(Database database, ObjectSql sql, ObjectListSql lists) {
        this.database = database;
        this.query = new Query(database);
        this.sql = sql;
        this.lists = lists;
    }

    @Override
    public Optional<Payload> read(ObjectKey object, String name) {
        return database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.read)) {
                new Parameters(statement).text(object.type()).text(object.key()).text(name);
                try (ResultSet rows = statement.executeQuery()) {
                    return rows.next() ? Optional.of(new Payload(rows.getBytes("payload"))) : Optional.empty();
                }
            }
        });
    }

    @Override
    public List<String> types(String after, int limit) {
        return query.byIndex(
                lists.types, parameters -> parameters.text(after).integer(limit), row -> row.getString("type"));
    }

    @Override
    public List<Listed> list(Page page) {
        String end = FilterSql.endOf(page.prefix());
        return query.byIndex(
                end == null ? lists.list : lists.listBefore,
                parameters -> {
                    parameters
                            .integer(MOST_COUNTED)
                            .text(page.type())
                            .text(page.after())
                            .text(page.prefix());
                    if (end != null) {
                        parameters.text(end);
                    }
                    parameters.integer(page.limit());
                },
                row -> new Listed(
                        row.getString("key"),
                        Optional.ofNullable(row.getString("holder")).map(RunId::of),
                        row.getInt("waiting")));
    }

    @Override
    public Values read(ObjectKey object, String after, int limit, int maxBytes) {
        SequencedMap<String, Payload> values = new LinkedHashMap<>();
        List<Integer> lookedAt = query.byIndex(
                lists.state,
                parameters -> parameters
                        .text(object.type())
                        .text(object.key())
                        .text(after)
                        .integer(limit + 1)
                        .number(maxBytes)
                        .integer(limit),
                row -> {
                    values.put(row.getString("name"), new Payload(row.getBytes("payload")));
                    return row.getInt("looked_at");
                });
        return new Values(values, lookedAt.isEmpty() || lookedAt.getFirst() == lookedAt.size());
    }

    @Override
    public Map<ObjectKey, SortedMap<String, Payload>> readAll(Collection<ObjectKey> objects) {
        List<ObjectKey> asked = List.copyOf(objects);
        return database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.readAll)) {
                new Parameters(statement)
                        .texts(asked.stream().map(ObjectKey::type).toArray(String[]::new))
                        .texts(asked.stream().map(ObjectKey::key).toArray(String[]::new));
                try (ResultSet rows = statement.executeQuery()) {
                    Map<ObjectKey, SortedMap<String, Payload>> states = new HashMap<>();
                    while (rows.next()) {
                        ObjectKey object = asked.get(rows.getInt("ordinal") - 1);
                        states.computeIfAbsent(object, unseen -> new TreeMap<>())
                                .put(rows.getString("name"), new Payload(rows.getBytes("payload")));
                    }
                    return states;
                }
            }
        });
    }
}
