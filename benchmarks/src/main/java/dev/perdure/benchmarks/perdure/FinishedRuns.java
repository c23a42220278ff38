package dev.perdure.benchmarks.perdure;

import dev.perdure.benchmarks.server.BenchDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Writes finished runs with SQL, in the form that runs of one step leave, because running millions of them would take as
 * long as the whole benchmark. It drops the indexes and builds them afterwards, and writes the runs and their journals
 * at the same time.
 */
final class FinishedRuns {
    private static final int KEYS_OF_A_BLOCK = 65_536;

    /** The columns that differ between runs follow from the key. */
    private static final String RUNS = """
            INSERT INTO perdure.run (key, seed, epoch, created_at, changed_at, changes, priority, partition, state, id,
                definition, queue)
            SELECT key, key, 1, at, at, 1, 0, key & 255, 6, 'done-' || key, 'steps', 'default'
            FROM (SELECT ? + (n << 8) + (n & 255) AS key, now() - interval '1 day' + n * interval '1 millisecond' AS at
                  FROM generate_series(0, ? - 1) AS n) AS made
            """;

    private static final String JOURNALS = """
            INSERT INTO perdure.journal (key, position, note, partition, at, kind, status, name, payload)
            SELECT key, position, 0, key & 255, at, CASE position WHEN 1 THEN 1 ELSE 0 END, 0,
                   CASE position WHEN 1 THEN 'step' ELSE '' END, '1'::bytea
            FROM (SELECT ? + (n << 8) + (n & 255) AS key, now() - interval '1 day' + n * interval '1 millisecond' AS at
                  FROM generate_series(0, ? - 1) AS n) AS made
            CROSS JOIN unnest('{0,1,2147483647}'::int[]) AS position
            """;

    /** What lets a table be filled fast: how to drop each of its indexes, and how to build it. Keys come first. */
    private static final String INDEXES = """
            SELECT CASE WHEN c.oid IS NULL THEN 'DROP INDEX perdure.' || quote_ident(i.relname)
                        ELSE 'ALTER TABLE perdure.%1$s DROP CONSTRAINT ' || quote_ident(c.conname) END,
                   CASE WHEN c.oid IS NULL THEN pg_get_indexdef(i.oid)
                        ELSE 'ALTER TABLE perdure.%1$s ADD CONSTRAINT ' || quote_ident(c.conname) || ' '
                             || pg_get_constraintdef(c.oid) END
            FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid LEFT JOIN pg_constraint c ON c.conindid = i.oid
            WHERE x.indrelid = 'perdure.%1$s'::regclass
            ORDER BY c.oid IS NULL
            """;

    private final BenchDatabase database;
    private final long firstKey;
    private final long count;

    private FinishedRuns(BenchDatabase database, long firstKey, long count) {
        this.database = database;
        this.firstKey = firstKey;
        this.count = count;
    }

    /** Writes this many runs. No engine may be open. */
    static void write(BenchDatabase database, long count) throws Exception {
        FinishedRuns runs = new FinishedRuns(database, takeKeys(database, count), count);
        try (ExecutorService executor = Executors.newFixedThreadPool(2)) {
            List<Future<?>> tables = List.of(
                    executor.submit(() -> runs.fill("run", RUNS)),
                    executor.submit(() -> runs.fill("journal", JOURNALS)));
            for (Future<?> table : tables) {
                table.get();
            }
        }
        database.execute("CHECKPOINT");
    }

    /** Takes blocks of keys, so that they do not collide with those of other runs. */
    private static long takeKeys(BenchDatabase database, long count) throws SQLException {
        long blocks = count / KEYS_OF_A_BLOCK + 2;
        long last = database.number(
                "SELECT setval('perdure.key_block', nextval('perdure.key_block') + %d)".formatted(blocks));
        return last - blocks + 1 << 24;
    }

    private Void fill(String table, String insert) throws SQLException {
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("SET maintenance_work_mem = '1GB'");
            List<String> drops = new ArrayList<>();
            List<String> builds = new ArrayList<>();
            try (ResultSet indexes = statement.executeQuery(INDEXES.formatted(table))) {
                while (indexes.next()) {
                    drops.add(indexes.getString(1));
                    builds.add(indexes.getString(2));
                }
            }
            for (String drop : drops) {
                statement.execute(drop);
            }
            try (PreparedStatement rows = connection.prepareStatement(insert)) {
                rows.setLong(1, firstKey);
                rows.setLong(2, count);
                rows.execute();
            }
            for (String build : builds) {
                statement.execute(build);
            }
            statement.execute("VACUUM (FREEZE, ANALYZE) perdure." + table);
            return null;
        }
    }
}
