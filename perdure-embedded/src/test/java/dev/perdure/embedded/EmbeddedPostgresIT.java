package dev.perdure.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.embedded.EmbeddedPostgresException.Reason;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedPostgresIT {
    private static EmbeddedPostgres shared;

    @BeforeAll
    static void start() {
        shared = EmbeddedPostgres.start(EmbeddedPostgres.options().setting("shared_buffers", "64MB"));
    }

    @AfterAll
    static void stop() {
        shared.close();
    }

    @Test
    void durability_is_on() throws SQLException {
        for (var setting : List.of("fsync", "synchronous_commit", "full_page_writes")) {
            assertThat(query(shared.dataSource(), "SHOW " + setting))
                    .as(setting)
                    .isEqualTo("on");
        }
    }

    @Test
    void durability_is_on_even_if_the_server_was_told_otherwise(@TempDir Path temp) throws SQLException {
        try (var postgres = EmbeddedPostgres.start(EmbeddedPostgres.options().dataFolder(temp))) {
            execute(postgres.dataSource(), "ALTER SYSTEM SET fsync = off");
            execute(postgres.dataSource(), "ALTER SYSTEM SET synchronous_commit = off");
            postgres.restart();
            assertThat(query(postgres.dataSource(), "SHOW fsync")).isEqualTo("on");
            assertThat(query(postgres.dataSource(), "SHOW synchronous_commit")).isEqualTo("on");
        }
    }

    @Test
    void settings_are_taken() throws SQLException {
        assertThat(query(shared.dataSource(), "SHOW shared_buffers")).isEqualTo("64MB");
    }

    @Test
    void it_listens_on_loopback_only_and_has_no_socket_file() throws Exception {
        assertThat(query(shared.dataSource(), "SHOW listen_addresses")).isEqualTo("127.0.0.1");
        assertThat(query(shared.dataSource(), "SHOW unix_socket_directories")).isEmpty();
        for (var address : outsideAddresses()) {
            assertThatThrownBy(() -> new Socket(address, shared.port()).close())
                    .as(address.toString())
                    .isInstanceOf(ConnectException.class);
        }
    }

    @Test
    void a_wrong_password_is_refused() {
        assertThatThrownBy(() -> DriverManager.getConnection(shared.jdbcUrl(), shared.user(), "wrong"))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("password authentication failed");
    }

    @Test
    void password_is_random_and_stored_scrambled_and_private() throws Exception {
        var stored = query(shared.dataSource(), "SELECT rolpassword FROM pg_authid WHERE rolname = 'postgres'");
        assertThat(stored).startsWith("SCRAM-SHA-256$");
        assertThat(shared.password()).hasSizeGreaterThan(20);
        assertThat(PosixFilePermissions.toString(
                        Files.getPosixFilePermissions(shared.folder().resolve("password"))))
                .isEqualTo("rw-------");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(shared.folder())))
                .isEqualTo("rwx------");
    }

    @Test
    void pid_is_the_servers() {
        assertThat(ProcessHandle.of(shared.pid()).flatMap(p -> p.info().command()))
                .get()
                .asString()
                .endsWith("/bin/postgres");
    }

    @Test
    void databases_are_created_once_and_dropped_with_their_connections() throws SQLException {
        var database = shared.createDatabase("with \"quotes\"");
        assertThat(query(database.dataSource(), "SELECT current_database()")).isEqualTo("with \"quotes\"");
        assertThat(shared.createDatabase("with \"quotes\"")).isEqualTo(database);
        try (var connection = database.dataSource().getConnection()) {
            assertThat(connection.isValid(1)).isTrue();
            shared.dropDatabase("with \"quotes\"");
            assertThat(connection.isValid(1)).isFalse();
        }
        shared.dropDatabase("with \"quotes\"");
        assertThat(database.toString()).doesNotContain(shared.password());
    }

    @Test
    void a_temporary_server_leaves_nothing() {
        var postgres = EmbeddedPostgres.start(EmbeddedPostgres.options());
        var server = postgres.pid();
        assertThat(postgres.folder()).isDirectory();
        postgres.close();
        postgres.close();
        assertThat(postgres.folder()).doesNotExist();
        assertThat(ChildJvm.alive(server)).isFalse();
        assertThatThrownBy(postgres::restart)
                .isInstanceOfSatisfying(
                        EmbeddedPostgresException.class,
                        e -> assertThat(e.reason()).isEqualTo(Reason.NOT_RUNNING));
    }

    @Test
    void a_persistent_server_keeps_data_and_password(@TempDir Path temp) throws SQLException {
        var options = EmbeddedPostgres.options().dataFolder(temp.resolve("with 'odd' name/and more"));
        String password;
        try (var postgres = EmbeddedPostgres.start(options)) {
            password = postgres.password();
            execute(postgres.dataSource(), "CREATE TABLE kept AS SELECT 42 AS answer");
        }
        try (var postgres = EmbeddedPostgres.start(options)) {
            assertThat(postgres.password()).isEqualTo(password);
            assertThat(query(postgres.dataSource(), "SELECT answer FROM kept")).isEqualTo("42");
        }
    }

    @Test
    void what_was_committed_survives_a_crash() throws SQLException {
        try (var postgres = EmbeddedPostgres.start(EmbeddedPostgres.options())) {
            execute(postgres.dataSource(), "CREATE TABLE kept AS SELECT 42 AS answer");
            postgres.stop(StopMode.IMMEDIATE);
            assertThatThrownBy(postgres::pid).hasMessageContaining("is not running");
            postgres.restart();
            assertThat(query(postgres.dataSource(), "SELECT answer FROM kept")).isEqualTo("42");
            assertThat(postgres.folder().resolve("server.log"))
                    .content()
                    .contains("database system was not properly shut down");
        }
    }

    @Test
    void a_server_killed_by_another_process_can_be_restarted() throws SQLException {
        try (var postgres = EmbeddedPostgres.start(EmbeddedPostgres.options())) {
            execute(postgres.dataSource(), "CREATE TABLE kept AS SELECT 42 AS answer");
            var server = ProcessHandle.of(postgres.pid()).orElseThrow();
            server.destroyForcibly();
            server.onExit().join();
            postgres.restart();
            assertThat(query(postgres.dataSource(), "SELECT answer FROM kept")).isEqualTo("42");
        }
    }

    static String query(DataSource dataSource, String sql) throws SQLException {
        try (var connection = dataSource.getConnection();
                var statement = connection.createStatement();
                var rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }

    static void execute(DataSource dataSource, String sql) throws SQLException {
        try (var connection = dataSource.getConnection();
                var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static List<InetAddress> outsideAddresses() throws Exception {
        return NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(address -> !address.getHostAddress().equals("127.0.0.1"))
                .toList();
    }
}
