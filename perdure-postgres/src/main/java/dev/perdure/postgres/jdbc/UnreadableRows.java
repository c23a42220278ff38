package dev.perdure.postgres.jdbc;

import dev.perdure.spi.report.EngineLog;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Rows that this version cannot read: a newer version, or a person, has written them. Whoever reads the rows of many runs leaves such a
 * row out, so that it stops nothing else. Each is logged once.
 *
 * <p>What decides about one run, such as its journal, is not read so: a row that is missing there is as bad as a wrong one.
 */
public final class UnreadableRows {
    private static final Logger LOG = EngineLog.of("dev.perdure.store");
    /** It remembers at most this many rows that were logged. */
    private static final int MOST_LOGGED = 1_000;

    /** The columns by which a person finds a row, the best first. */
    private static final List<String> NAMING = List.of("id", "oldest", "name", "key", "number");

    private final Set<String> logged = ConcurrentHashMap.newKeySet();

    /** What the reader makes of the row; null if it cannot read it. */
    public <T> @Nullable T read(ResultSet row, Query.Reader<T> reader) throws SQLException {
        try {
            return reader.read(row);
        } catch (RuntimeException unreadable) {
            leave(named(row), unreadable);
            return null;
        }
    }

    /** What the reader makes of the rows that it can read. */
    public <T> List<T> all(ResultSet rows, Query.Reader<T> reader) throws SQLException {
        List<T> all = new ArrayList<>();
        while (rows.next()) {
            T one = read(rows, reader);
            if (one != null) {
                all.add(one);
            }
        }
        return all;
    }

    /**
     * A page of rows. It is full if there are enough rows that can be read: callers take a shorter one for the last.
     *
     * @param ask gives the first rows, so many at most
     */
    public <T> List<T> page(int limit, Query.Reader<T> reader, PageQuery<T> ask) {
        int most = limit;
        while (true) {
            List<Optional<T>> rows = ask.first(most, row -> Optional.ofNullable(read(row, reader)));
            List<T> readable =
                    rows.stream().flatMap(Optional::stream).limit(limit).toList();
            if (readable.size() == limit || rows.size() < most) {
                return readable;
            }
            most += limit;
        }
    }

    /** Asks for the first rows of an order. */
    @FunctionalInterface
    public interface PageQuery<T> {
        List<Optional<T>> first(int most, Query.Reader<Optional<T>> reader);
    }

    /**
     * Logs, once, that something is left out.
     *
     * @param row how a person finds it
     */
    public void leave(String row, RuntimeException unreadable) {
        if (logged.size() < MOST_LOGGED && logged.add(row)) {
            LOG.error(
                    "The row {} cannot be read and is left out: {} Fix the row or delete it, or use the version that wrote it.",
                    row,
                    sentence(unreadable));
        }
    }

    private static String sentence(RuntimeException unreadable) {
        String message = String.valueOf(unreadable.getMessage() == null ? unreadable : unreadable.getMessage());
        return message.endsWith(".") || message.endsWith("?") ? message : message + '.';
    }

    private static String named(ResultSet row) throws SQLException {
        Map<String, String> values = new HashMap<>();
        ResultSetMetaData columns = row.getMetaData();
        for (int i = 1; i <= columns.getColumnCount(); i++) {
            String value = NAMING.contains(columns.getColumnLabel(i)) ? row.getString(i) : null;
            if (value != null) {
                values.put(columns.getColumnLabel(i), value);
            }
        }
        return NAMING.stream()
                .filter(values::containsKey)
                .findFirst()
                .map(column -> "with the %s '%s'"
                        .formatted(
                                column,
                                Text.storable(values.getOrDefault(column, "")).replace('\n', ' ')))
                .orElse("without a name");
    }
}
