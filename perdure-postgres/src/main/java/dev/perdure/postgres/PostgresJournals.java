package dev.perdure.postgres;

import dev.perdure.spi.Entry;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Payload;
import dev.perdure.spi.Recorded;
import dev.perdure.spi.RunRef;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads journals, many short ones in one query or a long one page by page. */
final class PostgresJournals implements Journals {
    // In the order of JournalSql.COLUMNS. Found by number, because a long journal has very many rows.
    private static final int KEY = 1;
    private static final int POSITION = 2;
    private static final int NOTE = 3;
    private static final int AT = 4;
    private static final int KIND = 5;
    private static final int STATUS = 6;
    private static final int NAME = 7;
    private static final int PAYLOAD = 8;
    private static final int PAGE = 9;

    private final Database database;
    private final JournalSql sql;

    PostgresJournals(Database database, JournalSql sql) {
        this.database = database;
        this.sql = sql;
    }

    @Override
    public Page read(RunRef run, int afterPosition, int maxBytes) {
        int after = Math.max(afterPosition, Codes.INPUT);
        Reading reading = database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.page)) {
                new Parameters(statement).number(run.key()).integer(after).number(maxBytes);
                try (ResultSet rows = statement.executeQuery()) {
                    Reading read = new Reading();
                    while (rows.next()) {
                        read.add(rows);
                    }
                    return read;
                }
            }
        });
        return reading.isTorn() ? position(run, after) : reading.page();
    }

    @Override
    public Map<RunRef, Page> readFirst(List<RunRef> runs, int maxBytes) {
        Map<Long, Reading> readings = database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.firstPages)) {
                new Parameters(statement)
                        .longs(runs.stream().mapToLong(RunRef::key).toArray())
                        .number(maxBytes);
                try (ResultSet rows = statement.executeQuery()) {
                    Map<Long, Reading> byKey = new HashMap<>();
                    while (rows.next()) {
                        byKey.computeIfAbsent(rows.getLong(KEY), key -> new Reading())
                                .add(rows);
                    }
                    return byKey;
                }
            }
        });
        Map<RunRef, Page> pages = new HashMap<>();
        for (RunRef run : runs) {
            Reading reading = readings.getOrDefault(run.key(), new Reading());
            pages.put(run, reading.isTorn() ? position(run, Codes.INPUT) : reading.page());
        }
        return pages;
    }

    /** The next position, which alone is more than a page. */
    private Page position(RunRef run, int after) {
        List<Recorded> entries = database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.position)) {
                new Parameters(statement).number(run.key()).number(run.key()).integer(after);
                try (ResultSet rows = statement.executeQuery()) {
                    List<Recorded> read = new ArrayList<>();
                    while (rows.next()) {
                        read.add(recorded(rows, rows.getBytes(PAYLOAD)));
                    }
                    return read;
                }
            }
        });
        return new Page(entries, false);
    }

    private static Recorded recorded(ResultSet row, byte[] payload) throws SQLException {
        return new Recorded(
                new Entry(
                        row.getInt(POSITION),
                        row.getInt(NOTE),
                        Codes.kind(row.getInt(KIND)),
                        row.getString(NAME),
                        Codes.status(row.getInt(STATUS)),
                        new Payload(payload)),
                row.getObject(AT, OffsetDateTime.class).toInstant());
    }

    /** What came of one journal. */
    private static final class Reading {
        private final List<Recorded> entries = new ArrayList<>();
        /** The position that the reading came to an end in, and that it may not have all of. */
        private int unfinished;

        private boolean cut;

        void add(ResultSet row) throws SQLException {
            if (cut) {
                return;
            }
            byte[] payload = row.getBytes(PAYLOAD);
            unfinished = row.getInt(POSITION);
            cut = payload == null || entries.size() + 1 == row.getInt(PAGE);
            if (!cut) {
                entries.add(recorded(row, payload));
            }
        }

        /** Whether not even one position is known as a whole. */
        boolean isTorn() {
            return cut && (entries.isEmpty() || entries.getFirst().entry().position() == unfinished);
        }

        Page page() {
            while (cut && entries.getLast().entry().position() == unfinished) {
                entries.removeLast();
            }
            return new Page(entries, !cut);
        }
    }
}
