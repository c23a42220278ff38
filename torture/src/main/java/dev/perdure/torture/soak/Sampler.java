package dev.perdure.torture.soak;

import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.torture.setup.WorkerProcess;
import dev.perdure.torture.work.SoakWorker.Usage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** Measures what might grow: tables and indexes, memory, threads, connections, open files. */
final class Sampler {
    private static final String STORED = """
            SELECT format('%s %s', CASE WHEN relkind = 'i' THEN 'index' ELSE 'table' END, relname),
                   CASE WHEN relkind = 'i' THEN pg_relation_size(oid) ELSE pg_table_size(oid) END
            FROM pg_class WHERE relnamespace = 'perdure'::regnamespace AND relkind IN ('r', 'i') ORDER BY 1
            """;
    private static final String TOTALS = """
            SELECT sum(pg_table_size(oid))::bigint, sum(pg_indexes_size(oid))::bigint
            FROM pg_class WHERE relnamespace = 'perdure'::regnamespace AND relkind = 'r'
            """;
    private static final String ROWS = """
            SELECT relname, (xpath('/row/count/text()',
                query_to_xml(format('SELECT count(*) FROM perdure.%I', relname), true, true, '')))[1]::text::bigint
            FROM pg_class WHERE relnamespace = 'perdure'::regnamespace AND relkind = 'r' ORDER BY 1
            """;
    private static final String CONNECTIONS = """
            SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'
            """;
    private static final Path PROCESSES = Path.of("/proc");
    private static final String PRIVATE_MEMORY = "RssAnon:";
    private static final int KIB = 1024;

    private final EmbeddedPostgres server;
    private final DataSource database;
    private final List<WorkerProcess> workers;
    private final Map<String, Unit> units = new LinkedHashMap<>();
    private final Map<String, List<Long>> values = new LinkedHashMap<>();

    Sampler(EmbeddedPostgres server, DataSource database, List<WorkerProcess> workers) {
        this.server = server;
        this.database = database;
        this.workers = List.copyOf(workers);
    }

    /** Measures all once. */
    void sample() throws IOException, SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            try (ResultSet row = statement.executeQuery(TOTALS)) {
                row.next();
                add("all tables", Unit.STORED, row.getLong(1));
                add("all indexes", Unit.STORED, row.getLong(2));
            }
            try (ResultSet row = statement.executeQuery(CONNECTIONS)) {
                row.next();
                add("connections", Unit.COUNT, row.getLong(1));
            }
            addServer();
            addProcess("client", Usage.now());
            for (int worker = 0; worker < workers.size(); worker++) {
                addProcess(
                        "worker " + (worker + 1), Usage.of(workers.get(worker).ask("usage")));
            }
            try (ResultSet rows = statement.executeQuery(STORED)) {
                while (rows.next()) {
                    add(rows.getString(1), Unit.STORED, rows.getLong(2));
                }
            }
            try (ResultSet rows = statement.executeQuery(ROWS)) {
                while (rows.next()) {
                    add("rows of " + rows.getString(1), Unit.ROWS, rows.getLong(2));
                }
            }
        }
    }

    private void addProcess(String name, Usage usage) {
        add("heap of " + name, Unit.MEMORY, usage.heap());
        add("threads of " + name, Unit.COUNT, usage.threads());
        add("open files of " + name, Unit.COUNT, usage.handles());
    }

    /** What the operating system says about the processes of the server. Only Linux has this folder. */
    private void addServer() throws IOException {
        if (!Files.isDirectory(PROCESSES)) {
            return;
        }
        long files = 0;
        long memory = 0;
        ProcessHandle main = ProcessHandle.of(server.pid()).orElseThrow();
        for (ProcessHandle process :
                Stream.concat(Stream.of(main), main.descendants()).toList()) {
            Path folder = PROCESSES.resolve(Long.toString(process.pid()));
            try (Stream<Path> open = Files.list(folder.resolve("fd"))) {
                files += open.count();
                memory += privateMemory(folder);
            } catch (IOException | UncheckedIOException ended) {
                // An autovacuum worker, say.
            }
        }
        add("open files of the server", Unit.COUNT, files);
        add("private memory of the server", Unit.MEMORY, memory);
    }

    private static long privateMemory(Path folder) throws IOException {
        try (Stream<String> lines = Files.lines(folder.resolve("status"))) {
            return lines.filter(line -> line.startsWith(PRIVATE_MEMORY))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * KIB)
                    .sum();
        }
    }

    private void add(String name, Unit unit, long value) {
        units.put(name, unit);
        values.computeIfAbsent(name, unseen -> new ArrayList<>()).add(value);
    }

    /** What was measured so far. */
    List<Figure> figures() {
        return values.entrySet().stream()
                .map(each -> new Figure(each.getKey(), units.getOrDefault(each.getKey(), Unit.COUNT), each.getValue()))
                .toList();
    }

    /** The newest value of a figure. */
    String newest(String name) {
        Unit unit = units.getOrDefault(name, Unit.COUNT);
        List<Long> all = values.getOrDefault(name, List.of(0L));
        return unit.text(all.getLast());
    }
}
