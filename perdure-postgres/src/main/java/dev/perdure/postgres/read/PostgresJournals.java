package dev.perdure.postgres.read;

import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.read.JournalReading.Missing;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.spi.Journals;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RunRef;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Reads journals, many short ones in one query or a long one page by page. */
public final class PostgresJournals implements Journals {
    private final Database database;
    private final JournalSql sql;

    public PostgresJournals(Database database, JournalSql sql) {
        this.database = database;
        this.sql = sql;
    }

    @Override
    public Page read(RunRef run, int afterPosition, int maxBytes) {
        int after = Math.max(afterPosition, Codes.INPUT);
        JournalReading reading = database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.page)) {
                settled(statement).number(run.key()).integer(after).number(maxBytes);
                ResultSet rows = rowsOf(statement);
                JournalReading read = new JournalReading(run.key(), maxBytes);
                while (rows.next()) {
                    read.add(rows);
                }
                return read;
            }
        });
        complete(Map.of(run.key(), reading));
        return page(run, after, reading);
    }

    @Override
    public Map<RunRef, Page> readFirst(List<RunRef> runs, int maxBytes) {
        Map<Long, JournalReading> readings = database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.firstPages)) {
                settled(statement)
                        .longs(runs.stream().mapToLong(RunRef::key).toArray())
                        .number(maxBytes);
                ResultSet rows = rowsOf(statement);
                Map<Long, JournalReading> byKey = new HashMap<>();
                while (rows.next()) {
                    byKey.computeIfAbsent(rows.getLong(JournalReading.RUN), key -> new JournalReading(key, maxBytes))
                            .add(rows);
                }
                return byKey;
            }
        });
        complete(readings);
        Map<RunRef, Page> pages = new HashMap<>();
        for (RunRef run : runs) {
            JournalReading reading = readings.get(run.key());
            pages.put(run, reading == null ? Page.EMPTY : page(run, Codes.INPUT, reading));
        }
        return pages;
    }

    @Override
    public TimedPage readByTime(RunRef run, TimePlace after, int limit, int maxBytes) {
        return database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.byTime)) {
                settled(statement)
                        .number(run.key())
                        .time(after.at())
                        .integer(after.position())
                        .integer(after.note())
                        .integer(limit + 1)
                        .number(maxBytes);
                ResultSet rows = rowsOf(statement);
                List<Timed> entries = new ArrayList<>();
                int lookedAt = 0;
                while (rows.next()) {
                    lookedAt = rows.getInt("looked_at");
                    entries.add(new Timed(
                            JournalReading.recorded(rows, rows.getBytes(JournalReading.PAYLOAD)),
                            rows.getInt("failed_attempts")));
                }
                return new TimedPage(entries, lookedAt == entries.size());
            }
        });
    }

    /** Reads the payloads that pages lack. */
    private void complete(Map<Long, JournalReading> readings) {
        List<Missing> missing = readings.values().stream()
                .map(JournalReading::missing)
                .flatMap(Collection::stream)
                .toList();
        if (missing.isEmpty()) {
            return;
        }
        List<byte[]> payloads = database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.payloads)) {
                settled(statement)
                        .longs(missing.stream().mapToLong(Missing::key).toArray())
                        .ints(missing.stream()
                                .mapToInt(lacking -> lacking.entry().position())
                                .toArray())
                        .ints(missing.stream()
                                .mapToInt(lacking -> lacking.entry().note())
                                .toArray());
                ResultSet rows = rowsOf(statement);
                List<byte[]> read = new ArrayList<>();
                while (rows.next()) {
                    read.add(rows.getBytes(1));
                }
                return read;
            }
        });
        for (int i = 0; i < missing.size(); i++) {
            Missing lacking = missing.get(i);
            Objects.requireNonNull(readings.get(lacking.key())).complete(lacking, payloads.get(i));
        }
    }

    private Page page(RunRef run, int after, JournalReading reading) {
        return reading.isTorn() ? position(run, after) : reading.page();
    }

    /** The next position, which alone is larger than a page. */
    private Page position(RunRef run, int after) {
        List<Recorded> entries = database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.position)) {
                settled(statement).number(run.key()).number(run.key()).integer(after);
                ResultSet rows = rowsOf(statement);
                List<Recorded> read = new ArrayList<>();
                while (rows.next()) {
                    read.add(JournalReading.recorded(rows, rows.getBytes(JournalReading.PAYLOAD)));
                }
                return read;
            }
        });
        return new Page(entries, false);
    }

    private static Parameters settled(PreparedStatement statement) throws SQLException {
        return new Parameters(statement).text(LedgerSql.NO_LOCK_TIMEOUT);
    }

    private static ResultSet rowsOf(PreparedStatement statement) throws SQLException {
        statement.execute();
        Results results = new Results(statement);
        results.skip();
        return results.next();
    }
}
