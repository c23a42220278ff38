package dev.perdure.postgres.jdbc;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The answers to an execute of several statements, one after another, and the readers for our columns. */
public final class Results {
    private final PreparedStatement statement;
    private boolean first = true;

    public Results(PreparedStatement statement) {
        this.statement = statement;
    }

    /** The rows of the next statement. */
    public ResultSet next() throws SQLException {
        if (!first) {
            statement.getMoreResults();
        }
        first = false;
        ResultSet rows = statement.getResultSet();
        if (rows == null) {
            throw new IllegalStateException("A statement of the batch returned no rows.");
        }
        return rows;
    }

    /** The only row of the next statement. */
    public ResultSet one() throws SQLException {
        ResultSet rows = next();
        if (!rows.next()) {
            throw new IllegalStateException("A statement of the batch returned no row.");
        }
        return rows;
    }

    public void skip() throws SQLException {
        next();
    }

    public static Instant time(ResultSet row, String column) throws SQLException {
        Instant time = timeOrNull(row, column);
        if (time == null) {
            throw new IllegalStateException("The column %s is null.".formatted(column));
        }
        return time;
    }

    public static @Nullable Instant timeOrNull(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }

    public static List<String> texts(ResultSet row, String column) throws SQLException {
        return List.of((String[]) row.getArray(column).getArray());
    }

    /** A map of texts, as {@link Json#pairs} selects it. */
    public static Map<String, String> pairs(ResultSet row, String column) throws SQLException {
        if (row.getArray(column) == null) {
            return Map.of();
        }
        List<String> both = texts(row, column);
        if (both.size() % 2 != 0) {
            throw new InvalidRequestException(
                    "The %s are %s. Give an object of names with values.".formatted(column, both.getFirst()));
        }
        Map<String, String> pairs = new TreeMap<>();
        for (int i = 0; i < both.size(); i += 2) {
            pairs.put(both.get(i), both.get(i + 1));
        }
        return pairs;
    }

    public static List<Long> longs(ResultSet row, String column) throws SQLException {
        return List.of((Long[]) row.getArray(column).getArray());
    }

    public static Control control(ResultSet row) throws SQLException {
        return new Control(
                row.getInt("wakes"),
                row.getLong("mails"),
                row.getString("cancel"),
                row.getString("kill"),
                row.getString("pause"));
    }

    /** The call of a virtual object that a run is; null if it is none. */
    public static @Nullable ObjectCall object(ResultSet row) throws SQLException {
        String type = row.getString("object_type");
        return type == null
                ? null
                : new ObjectCall(new ObjectKey(type, row.getString("object_key")), Codes.hold(row.getInt("hold")));
    }
}
