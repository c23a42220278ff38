package dev.perdure.postgres;

import dev.perdure.spi.ObjectKey;
import dev.perdure.spi.Payload;
import dev.perdure.spi.States;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Reads what virtual objects know. */
final class PostgresStates implements States {
    private final Database database;
    private final ObjectSql sql;

    PostgresStates(Database database, Schema schema) {
        this.database = database;
        this.sql = new ObjectSql(schema);
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
    public SortedMap<String, Payload> readAll(ObjectKey object) {
        return database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.readAll)) {
                new Parameters(statement).text(object.type()).text(object.key());
                try (ResultSet rows = statement.executeQuery()) {
                    SortedMap<String, Payload> state = new TreeMap<>();
                    while (rows.next()) {
                        state.put(rows.getString("name"), new Payload(rows.getBytes("payload")));
                    }
                    return state;
                }
            }
        });
    }
}
