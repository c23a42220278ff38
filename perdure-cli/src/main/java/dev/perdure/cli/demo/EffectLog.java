package dev.perdure.cli.demo;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Records the effects of the demo's steps in a plain table, with autocommit, outside the engine. */
final class EffectLog {
    private final DataSource database;
    private final Duration packing;

    EffectLog(DataSource database, Duration packing) {
        this.database = database;
        this.packing = packing;
    }

    /** One effect of a step. */
    record Effect(String what, Instant at, long pid) {}

    void create() throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement create = connection.prepareStatement("""
                        CREATE TABLE IF NOT EXISTS demo_effect (
                            number bigint GENERATED ALWAYS AS IDENTITY, order_id text, what text, pid bigint,
                            at timestamptz NOT NULL DEFAULT clock_timestamp())
                        """)) {
            create.execute();
        }
    }

    String write(String order, String what) throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement insert = connection.prepareStatement(
                        "INSERT INTO demo_effect (order_id, what, pid) VALUES (?, ?, ?) RETURNING number")) {
            insert.setString(1, order);
            insert.setString(2, what);
            insert.setLong(3, ProcessHandle.current().pid());
            try (ResultSet row = insert.executeQuery()) {
                row.next();
                return what + "-" + row.getLong(1);
            }
        }
    }

    /** Takes two seconds in a worker, so that the demo can kill the worker in the middle. */
    void pack(String order, int attempt) throws SQLException, InterruptedException {
        write(order, "pack begun, attempt " + attempt);
        Thread.sleep(packing);
        write(order, "pack done");
    }

    List<Effect> effects(String order) throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement select = connection.prepareStatement(
                        "SELECT what, at, pid FROM demo_effect WHERE order_id = ? ORDER BY number")) {
            select.setString(1, order);
            List<Effect> effects = new ArrayList<>();
            try (ResultSet rows = select.executeQuery()) {
                while (rows.next()) {
                    effects.add(new Effect(
                            rows.getString(1),
                            rows.getObject(2, OffsetDateTime.class).toInstant(),
                            rows.getLong(3)));
                }
            }
            return effects;
        }
    }
}
