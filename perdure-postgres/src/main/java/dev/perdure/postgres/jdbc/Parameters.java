package dev.perdure.postgres.jdbc;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/** Binds a statement's parameters one after another. Arrays of primitives, texts and bytes are sent in binary. */
public final class Parameters {
    private final PreparedStatement statement;
    private final PGConnection driver;
    private int index;

    public Parameters(PreparedStatement statement) throws SQLException {
        this.statement = statement;
        this.driver = statement.getConnection().unwrap(PGConnection.class);
    }

    public Parameters integer(@Nullable Integer value) throws SQLException {
        if (value == null) {
            statement.setNull(++index, Types.INTEGER);
        } else {
            statement.setInt(++index, value);
        }
        return this;
    }

    public Parameters bool(boolean value) throws SQLException {
        statement.setBoolean(++index, value);
        return this;
    }

    public Parameters number(long value) throws SQLException {
        statement.setLong(++index, value);
        return this;
    }

    Parameters numberOrNull(@Nullable Long value) throws SQLException {
        statement.setObject(++index, value, Types.BIGINT);
        return this;
    }

    public Parameters text(@Nullable String value) throws SQLException {
        statement.setString(++index, value);
        return this;
    }

    public Parameters bytes(byte @Nullable [] value) throws SQLException {
        statement.setBytes(++index, value);
        return this;
    }

    public Parameters object(@Nullable Object value) throws SQLException {
        statement.setObject(++index, value);
        return this;
    }

    public Parameters time(@Nullable Instant value) throws SQLException {
        if (value == null) {
            // By name: for a null without a type the driver asks the server for it, and for the columns of the answer.
            statement.setNull(++index, Types.OTHER, "timestamptz");
        } else {
            statement.setObject(++index, OffsetDateTime.ofInstant(value, ZoneOffset.UTC));
        }
        return this;
    }

    public Parameters longs(Object values) throws SQLException {
        return array("int8", values);
    }

    public Parameters ints(Object values) throws SQLException {
        return array("int4", values);
    }

    public Parameters doubles(Object values) throws SQLException {
        return array("float8", values);
    }

    public Parameters shorts(Object values) throws SQLException {
        return array("int2", values);
    }

    public Parameters bools(Object values) throws SQLException {
        return array("bool", values);
    }

    public Parameters texts(Collection<String> values) throws SQLException {
        return texts(values.toArray(String[]::new));
    }

    public Parameters texts(@Nullable String @Nullable [] values) throws SQLException {
        return array("text", values);
    }

    public Parameters bytes(byte[] @Nullable [] values) throws SQLException {
        return array("bytea", values);
    }

    public Parameters uuids(@Nullable UUID[] values) throws SQLException {
        return array("uuid", values);
    }

    private Parameters array(String type, @Nullable Object values) throws SQLException {
        statement.setArray(++index, driver.createArrayOf(type, values));
        return this;
    }
}
