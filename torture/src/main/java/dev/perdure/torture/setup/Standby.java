package dev.perdure.torture.setup;

import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.embedded.Options;
import dev.perdure.embedded.StopMode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Comparator;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * A second server that gets everything that the first one writes, before the first one acknowledges it.
 *
 * <p>How it works: there is no program for a base backup among the binaries, so this copies the files between the start
 * and the stop of a backup, as PostgreSQL's manual describes it, and lets the server stream what was written meanwhile.
 */
final class Standby implements AutoCloseable {
    private static final Duration BETWEEN = Duration.ofMillis(50);
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final String DATA = "pg";

    private static final String IS_SYNCHRONOUS = """
            SELECT count(*) > 0 FROM pg_stat_replication WHERE sync_state = 'sync'
            """;

    private final EmbeddedPostgres primary;
    private final EmbeddedPostgres server;
    private final Path folder;

    private Standby(EmbeddedPostgres primary, EmbeddedPostgres server, Path folder) {
        this.primary = primary;
        this.server = server;
        this.folder = folder;
    }

    /** Starts one, and returns when the primary waits for it at every commit. */
    static Standby of(EmbeddedPostgres primary, Options options) throws IOException, SQLException {
        Path folder = Files.createTempDirectory("perdure-standby");
        try (Connection connection = primary.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_backup_start('standby', true)");
            copy(primary.folder(), folder);
            try (ResultSet row = statement.executeQuery("SELECT labelfile FROM pg_backup_stop(false)")) {
                row.next();
                Files.writeString(folder.resolve(DATA).resolve("backup_label"), row.getString(1));
            }
            Files.createFile(folder.resolve(DATA).resolve("standby.signal"));
            EmbeddedPostgres server = EmbeddedPostgres.start(options.dataFolder(folder)
                    .setting(
                            "primary_conninfo",
                            "host=127.0.0.1 port=%d user=%s password=%s"
                                    .formatted(primary.port(), primary.user(), primary.password())));
            statement.execute("ALTER SYSTEM SET synchronous_standby_names = '*'");
            statement.execute("SELECT pg_reload_conf()");
            await(statement, IS_SYNCHRONOUS);
            return new Standby(primary, server, folder);
        }
    }

    /** The data without what belongs to the running server, and beside it what {@link EmbeddedPostgres} needs. */
    private static void copy(Path from, Path to) throws IOException {
        try {
            // Files may come and go meanwhile: what is missing is in the log that the standby gets.
            new ProcessBuilder(
                            "cp",
                            "-a",
                            from.resolve(DATA).toString(),
                            to.resolve(DATA).toString())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted.", interrupted);
        }
        Files.deleteIfExists(to.resolve(DATA).resolve("postmaster.pid"));
        deleteBelow(to.resolve(DATA).resolve("pg_wal"));
        Files.copy(from.resolve("password"), to.resolve("password"));
        Files.createFile(to.resolve("lock"));
    }

    private static void await(Statement statement, String condition) throws SQLException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!isTrue(statement, condition)) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("Not true within %s: %s".formatted(PATIENCE, condition));
            }
            LockSupport.parkNanos(BETWEEN.toNanos());
        }
    }

    private static boolean isTrue(Statement statement, String condition) throws SQLException {
        try (ResultSet row = statement.executeQuery(condition)) {
            row.next();
            return row.getBoolean(1);
        }
    }

    /** Stops the primary as in a crash, and gives the server that is the primary from now on. */
    EmbeddedPostgres promoted() throws SQLException {
        primary.stop(StopMode.IMMEDIATE);
        try (Connection connection = server.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_promote(true, 60)");
            await(statement, "SELECT NOT pg_is_in_recovery()");
            // There is no standby that a commit could wait for.
            statement.execute("ALTER SYSTEM RESET synchronous_standby_names");
            statement.execute("SELECT pg_reload_conf()");
        }
        return server;
    }

    /** Stops it, or what has become of it, and deletes its data. */
    @Override
    public void close() {
        server.close();
        try {
            deleteBelow(folder);
            Files.delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void deleteBelow(Path folder) throws IOException {
        try (Stream<Path> below = Files.walk(folder)) {
            for (Path each : below.sorted(Comparator.reverseOrder()).toList()) {
                if (!each.equals(folder)) {
                    Files.delete(each);
                }
            }
        }
    }
}
