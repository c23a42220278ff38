package dev.perdure.torture.setup;

import dev.perdure.embedded.Options;
import dev.perdure.embedded.StopMode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * A second server that gets everything that the first one writes, usually before the first one acknowledges it.
 *
 * <p>How it works: there is no program for a base backup among the binaries, so this copies the files between the start
 * and the stop of a backup, as PostgreSQL's manual describes it, and lets the server stream what was written meanwhile.
 *
 * @param primary whose copy it is
 * @param server the standby
 */
record Standby(OwnServer primary, OwnServer server) {
    private static final Duration BETWEEN = Duration.ofMillis(50);
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final String DATA = "pg";
    private static final int RENAMED_BACKUP = 15;

    private static final String IS_SYNCHRONOUS = """
            SELECT count(*) > 0 FROM pg_stat_replication WHERE sync_state = 'sync'
            """;

    /** Starts one, and returns when the primary waits for it at every commit. */
    static Standby of(OwnServer primary, Options options) throws Exception {
        Standby standby = behind(primary, options);
        try {
            waitFor(primary);
            return standby;
        } catch (SQLException | RuntimeException failed) {
            standby.server().close();
            throw failed;
        }
    }

    /** Starts one for which the primary does not wait. */
    static Standby behind(OwnServer primary, Options options) throws Exception {
        Optional<String> diskSize = primary.folder().disk().map(SmallDisk::size);
        String connection = "host=127.0.0.1 port=%d user=%s password=%s"
                .formatted(
                        primary.postgres().port(),
                        primary.postgres().user(),
                        primary.postgres().password());
        OwnServer server = OwnServer.start(
                options.setting("primary_conninfo", connection), diskSize, folder -> backup(primary, folder.path()));
        return new Standby(primary, server);
    }

    private static void backup(OwnServer primary, Path folder) throws IOException, SQLException {
        boolean renamed = Integer.parseInt(primary.postgres().version().replaceFirst("\\D.*", "")) >= RENAMED_BACKUP;
        String start =
                renamed ? "SELECT pg_backup_start('standby', true)" : "SELECT pg_start_backup('standby', true, false)";
        String stop = renamed
                ? "SELECT labelfile FROM pg_backup_stop(false)"
                : "SELECT labelfile FROM pg_stop_backup(false, false)";
        try (Connection connection = primary.postgres().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(start);
            copy(primary.folder().path(), folder);
            try (ResultSet row = statement.executeQuery(stop)) {
                row.next();
                Files.writeString(folder.resolve(DATA).resolve("backup_label"), row.getString(1));
            }
        }
        Files.createFile(folder.resolve(DATA).resolve("standby.signal"));
    }

    private static void waitFor(OwnServer primary) throws SQLException {
        try (Connection connection = primary.postgres().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("ALTER SYSTEM SET synchronous_standby_names = '*'");
            statement.execute("SELECT pg_reload_conf()");
            await(statement, IS_SYNCHRONOUS);
        }
    }

    /** The data without what belongs to the running server, and beside it what {@link OwnServer} needs. */
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
        ServerFolder.deleteBelow(to.resolve(DATA).resolve("pg_wal"));
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
    OwnServer promoted() throws SQLException {
        primary.postgres().stop(StopMode.IMMEDIATE);
        try (Connection connection = server.postgres().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_promote(true, 60)");
            await(statement, "SELECT NOT pg_is_in_recovery()");
            // There is no standby that a commit could wait for.
            statement.execute("ALTER SYSTEM RESET synchronous_standby_names");
            statement.execute("SELECT pg_reload_conf()");
        }
        return server;
    }
}
