package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.perdure.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A server of the PostgreSQL that is installed on this machine, as Debian and Homebrew build it: it compiles statements
 * (JIT), has the modules of contrib, and is of another version than the one from the jar. A test class that needs it
 * calls {@link #start} before all of its tests; without an installation they are skipped, unless
 * {@code PERDURE_REQUIRE_POSTGRES} is set, as by {@code .ci/run}.
 */
final class InstalledPostgres {
    private static final String REQUIRED = "PERDURE_REQUIRE_POSTGRES";
    private static final int OLDEST = 14;
    private static final int NEWEST = 18;

    /** Where distributions put their servers, each below a folder whose name ends with the version. */
    private static final List<Path> PLACES = List.of(
            Path.of("/usr/lib/postgresql"),
            Path.of("/opt/homebrew/opt"),
            Path.of("/usr/local/opt"),
            Path.of("/home/linuxbrew/.linuxbrew/opt"));

    private static final Pattern VERSION = Pattern.compile("(?:postgresql@)?(\\d{2})");

    private static final Pattern COST = Pattern.compile("\\(cost=[0-9.]+\\.\\.([0-9.]+) rows");

    private static final ReentrantLock LOCK = new ReentrantLock();
    private static @Nullable EmbeddedPostgres server;

    private record Installation(int version, Path programs) {}

    private InstalledPostgres() {}

    /** One server for all test classes of this JVM, which is gone when the JVM is. */
    static EmbeddedPostgres start() {
        LOCK.lock();
        try {
            EmbeddedPostgres running = server;
            if (running == null) {
                running = EmbeddedPostgres.start(EmbeddedPostgres.options()
                        .programs(programs())
                        .setting("max_connections", "200")
                        .setting("shared_preload_libraries", "auto_explain,pg_stat_statements")
                        .setting("pg_stat_statements.track", "all"));
                server = running;
            }
            return running;
        } finally {
            LOCK.unlock();
        }
    }

    /** The same server, as a {@link TestServer#plain} one. */
    static PGSimpleDataSource plain() {
        EmbeddedPostgres running = start();
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(running.jdbcUrl());
        source.setUser(running.user());
        source.setPassword(running.password());
        return source;
    }

    static void execute(String sql) {
        onServer(sql, statement -> {
            statement.execute(sql);
            return "";
        });
    }

    static String query(String sql) {
        return onServer(sql, statement -> {
            try (ResultSet row = statement.executeQuery(sql)) {
                row.next();
                return row.getString(1);
            }
        });
    }

    private interface Use {
        String with(Statement statement) throws SQLException;
    }

    private static String onServer(String sql, Use use) {
        try (Connection connection = plain().getConnection();
                Statement statement = connection.createStatement()) {
            return use.with(statement);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    /** Begins to note which statements are compiled. */
    static void forgetStatements() {
        execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
        assumeThat(query("SELECT extversion::numeric >= 1.10 FROM pg_extension WHERE extname = 'pg_stat_statements'"))
                .as("The installed PostgreSQL is older than 15 and does not count what it compiles.")
                .isEqualTo("t");
        assertThat(query("SELECT current_setting('jit') || ' ' || pg_jit_available()"))
                .isEqualTo("on true");
        execute("SELECT pg_stat_statements_reset()");
    }

    /** The statements that the server has compiled since then. */
    static List<String> compiledStatements() {
        String found = query(
                "SELECT string_agg(regexp_replace(query, '\\s+', ' ', 'g'), chr(10)) FROM pg_stat_statements WHERE jit_functions > 0");
        return found == null ? List.of() : found.lines().toList();
    }

    /** The costs of the statements with this text that {@code auto_explain} has written to the log of the server. */
    static List<String> costs(String text) throws IOException {
        String log = Files.readString(start().folder().resolve("server.log"));
        List<String> costs = new ArrayList<>();
        for (String entry : log.split("(?=Query Text: )")) {
            Matcher cost = COST.matcher(entry);
            if (entry.contains(text) && cost.find()) {
                costs.add(cost.group(1));
            }
        }
        return costs;
    }

    /** The programs of the newest installation. */
    private static Path programs() {
        Optional<Path> found = find(PLACES);
        String problem = "No PostgreSQL %d to %d of Debian or Homebrew is installed in any of %s"
                .formatted(OLDEST, NEWEST, PLACES);
        if (System.getenv(REQUIRED) == null) {
            assumeThat(found)
                    .as(problem + ": install it to run the tests that need one.")
                    .isPresent();
        } else {
            assertThat(found).as(problem + ", and " + REQUIRED + " is set.").isPresent();
        }
        return found.orElseThrow();
    }

    static Optional<Path> find(List<Path> places) {
        List<Installation> found = new ArrayList<>();
        for (Path place : places) {
            if (Files.isDirectory(place)) {
                found.addAll(below(place));
            }
        }
        return found.stream()
                .max(Comparator.comparingInt(Installation::version))
                .map(Installation::programs);
    }

    private static List<Installation> below(Path place) {
        List<Installation> found = new ArrayList<>();
        try (var folders = Files.newDirectoryStream(place)) {
            for (Path folder : folders) {
                Matcher version = VERSION.matcher(folder.getFileName().toString());
                Path programs = folder.resolve("bin");
                if (version.matches() && Files.isExecutable(programs.resolve("initdb"))) { // clients have none
                    found.add(new Installation(Integer.parseInt(version.group(1)), programs));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        found.removeIf(each -> each.version() < OLDEST || each.version() > NEWEST);
        return found;
    }
}
