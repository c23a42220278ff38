package dev.perdure.postgres;

import dev.perdure.spi.Entry;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Payload;
import dev.perdure.spi.Recorded;
import dev.perdure.spi.RunRef;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads journals, many short ones in one query or a long one page by page. */
final class PostgresJournals implements Journals {
    private static final int ROWS_LOOKED_AT = 4_096;

    private final Database database;
    private final QuerySql sql;

    PostgresJournals(Database database, QuerySql sql) {
        this.database = database;
        this.sql = sql;
    }

    @Override
    public Page read(RunRef run, int afterPosition, int maxBytes) {
        return pages(List.of(run), afterPosition, maxBytes, ROWS_LOOKED_AT).getOrDefault(run.key(), Page.EMPTY);
    }

    @Override
    public Map<RunRef, Page> readFirst(List<RunRef> runs, int maxBytes) {
        Map<Long, Page> pages = pages(runs, 0, maxBytes, ROWS_LOOKED_AT);
        Map<RunRef, Page> byRun = new HashMap<>();
        runs.forEach(run -> byRun.put(run, pages.getOrDefault(run.key(), Page.EMPTY)));
        return byRun;
    }

    private Map<Long, Page> pages(List<RunRef> runs, int afterPosition, int maxBytes, int rowsLookedAt) {
        Map<Long, Reading> readings = database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.pages)) {
                new Parameters(statement)
                        .longs(runs.stream().mapToLong(RunRef::key).toArray())
                        .integer(Math.max(afterPosition, Codes.INPUT))
                        .integer(rowsLookedAt)
                        .number(maxBytes);
                try (ResultSet rows = statement.executeQuery()) {
                    Map<Long, Reading> byKey = new HashMap<>();
                    while (rows.next()) {
                        byKey.computeIfAbsent(rows.getLong("key"), key -> new Reading())
                                .add(rows);
                    }
                    return byKey;
                }
            }
        });
        Map<Long, Page> pages = new HashMap<>();
        for (RunRef run : runs) {
            Reading reading = readings.get(run.key());
            if (reading != null) {
                // A single position with more notes than were looked at: look at more, for a page has whole positions.
                pages.put(
                        run.key(),
                        reading.isTorn(rowsLookedAt)
                                ? pages(List.of(run), afterPosition, maxBytes, rowsLookedAt * 8)
                                        .get(run.key())
                                : reading.page(rowsLookedAt));
            }
        }
        return pages;
    }

    /** What came of one journal. */
    private static final class Reading {
        private final List<Recorded> entries = new ArrayList<>();
        private int lookedAt;

        void add(ResultSet row) throws SQLException {
            lookedAt = row.getInt("looked_at");
            entries.add(new Recorded(
                    new Entry(
                            row.getInt("position"),
                            row.getInt("note"),
                            Codes.kind(row.getInt("kind")),
                            row.getString("name"),
                            Codes.status(row.getInt("status")),
                            new Payload(row.getBytes("payload"))),
                    Results.time(row, "at")));
        }

        private boolean mayHaveMore(int rowsLookedAt) {
            return entries.size() == lookedAt && lookedAt == rowsLookedAt;
        }

        boolean isTorn(int rowsLookedAt) {
            return mayHaveMore(rowsLookedAt)
                    && entries.getFirst().entry().position()
                            == entries.getLast().entry().position();
        }

        Page page(int rowsLookedAt) {
            if (!mayHaveMore(rowsLookedAt)) {
                return new Page(entries, entries.size() == lookedAt);
            }
            int last = entries.getLast().entry().position();
            return new Page(
                    entries.stream()
                            .filter(recorded -> recorded.entry().position() != last)
                            .toList(),
                    false);
        }
    }
}
