package dev.perdure.embedded;

import static dev.perdure.embedded.EmbeddedPostgresIT.execute;
import static dev.perdure.embedded.EmbeddedPostgresIT.query;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.perdure.embedded.EmbeddedPostgresException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A JVM leaves nothing behind when it ends, and a later start removes what a killed one has left. */
class LeftOverIT {
    private static final Duration A_WHILE = Duration.ofMinutes(1);

    @TempDir
    Path temp;

    @Test
    void a_killed_jvm_leaves_no_server_and_no_temporary_folder() throws Exception {
        try (var child = ChildJvm.temporary("-Djava.io.tmpdir=" + temp)) {
            var server = child.awaitServer();
            assertThat(server.alive()).isTrue();
            child.kill();
            await().atMost(A_WHILE).until(() -> !server.alive() && !Files.exists(server.folder()));
        }
    }

    @Test
    void ctrl_c_leaves_no_server_and_no_temporary_folder_once_the_jvm_has_ended() throws Exception {
        try (var child = ChildJvm.temporary("-Djava.io.tmpdir=" + temp)) {
            var server = child.awaitServer();
            var supervisor = child.children();
            assertThat(child.terminate()).isEqualTo(143);
            assertThat(server.alive()).isFalse();
            assertThat(server.folder()).doesNotExist();
            assertThat(supervisor).hasSize(1).noneMatch(ProcessHandle::isAlive);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 450})
    void ctrl_c_during_the_start_leaves_nothing(int millis) throws Exception {
        try (var child = ChildJvm.temporary("-Djava.io.tmpdir=" + temp)) {
            child.awaitLine("begin");
            letRun(millis);
            assertThat(child.terminate()).isIn(143, 3);
            assertThat(temp).as(child.rest()).isEmptyDirectory();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {500})
    @Tag("thorough")
    void kill_during_the_start_leaves_nothing_after_the_next_start(int millis) throws Exception {
        try (var child = ChildJvm.temporary("-Djava.io.tmpdir=" + temp)) {
            child.awaitLine("begin");
            letRun(millis);
            child.kill();
        }
        await().atMost(A_WHILE)
                .until(() -> serversIn(temp).isEmpty() && supervisorsIn(temp).isEmpty());
        startOnceMore();
        assertThat(temp).isEmptyDirectory();
    }

    @Test
    @Tag("thorough")
    void a_folder_that_a_killed_jvm_did_not_come_to_sign_is_removed() throws Exception {
        var maker = new ProcessBuilder("true").start();
        maker.waitFor();
        var unsigned = Files.createDirectory(temp.resolve("perdure-postgres-" + maker.pid() + "-1"));
        var ours = Files.createDirectory(
                temp.resolve("perdure-postgres-" + ProcessHandle.current().pid() + "-1"));
        var somebodyElses = Files.createDirectory(temp.resolve("perdure-postgres-notes"));
        startOnceMore();
        assertThat(unsigned).doesNotExist();
        assertThat(ours).as("its maker lives and may be about to sign").exists();
        assertThat(somebodyElses).exists();
    }

    @Test
    @Tag("thorough")
    void a_folder_whose_jvm_is_stopping_is_waited_for() throws Exception {
        try (var child = ChildJvm.persistent(temp)) {
            var server = child.awaitServer();
            child.kill();
            try (var postgres =
                    EmbeddedPostgres.start(EmbeddedPostgres.options().dataFolder(temp))) {
                assertThat(server.alive()).isFalse();
                assertThat(query(postgres.dataSource(), "SELECT 1")).isEqualTo("1");
            }
        }
    }

    @Test
    void a_server_whose_jvm_and_supervisor_were_killed_is_stopped_by_the_next_start() throws Exception {
        try (var child = ChildJvm.persistent(temp)) {
            var server = orphan(child);
            assertThat(server.alive()).isTrue();
            try (var postgres =
                    EmbeddedPostgres.start(EmbeddedPostgres.options().dataFolder(temp))) {
                assertThat(server.alive()).isFalse();
                assertThat(postgres.pid()).isNotEqualTo(server.pid());
            }
        }
    }

    @Test
    @Tag("thorough")
    void a_temporary_server_whose_jvm_and_supervisor_were_killed_is_removed_by_any_next_start() throws Exception {
        try (var child = ChildJvm.temporary("-Djava.io.tmpdir=" + temp)) {
            var server = orphan(child);
            assertThat(server.alive()).isTrue();
            startOnceMore();
            assertThat(server.alive()).isFalse();
            assertThat(server.folder()).doesNotExist();
        }
    }

    @Test
    void the_server_is_stopped_even_if_its_supervisor_was_killed() {
        var postgres = EmbeddedPostgres.start(EmbeddedPostgres.options());
        var server = ProcessHandle.of(postgres.pid()).orElseThrow();
        var supervisor = LeftOver.supervisor(postgres.folder()).orElseThrow();
        supervisor.destroyForcibly();
        supervisor.onExit().join();
        postgres.close();
        assertThat(ChildJvm.alive(server.pid())).isFalse();
        assertThat(postgres.folder()).doesNotExist();
    }

    @Test
    void a_pid_that_was_used_again_is_not_taken_for_the_server() throws Exception {
        var options = EmbeddedPostgres.options().dataFolder(temp);
        try (var postgres = EmbeddedPostgres.start(options)) {
            execute(postgres.dataSource(), "CREATE TABLE kept AS SELECT 42 AS answer");
        }
        var stale = ProcessHandle.current().pid() + "\n" + temp.resolve("pg") + "\n1000000000\n5432\n\n127.0.0.1\n";
        Files.writeString(temp.resolve("pg/postmaster.pid"), stale);
        try (var postgres = EmbeddedPostgres.start(options)) {
            assertThat(query(postgres.dataSource(), "SELECT answer FROM kept")).isEqualTo("42");
        }
    }

    @Test
    void a_folder_in_use_is_refused_with_the_process_that_uses_it() throws Exception {
        try (var child = ChildJvm.persistent(temp)) {
            var server = child.awaitServer();
            assertThatThrownBy(() ->
                            EmbeddedPostgres.start(EmbeddedPostgres.options().dataFolder(temp)))
                    .isInstanceOfSatisfying(EmbeddedPostgresException.class, e -> {
                        assertThat(e.reason()).isEqualTo(Reason.FOLDER_IN_USE);
                        assertThat(e)
                                .hasMessageContaining("pid " + child.handle().pid());
                    });
            assertThat(server.alive()).isTrue();
            child.terminate();
        }
    }

    @Test
    void a_folder_in_use_by_this_jvm_is_refused_and_still_locked_afterwards() {
        var options = EmbeddedPostgres.options().dataFolder(temp);
        try (var postgres = EmbeddedPostgres.start(options)) {
            assertThatThrownBy(() -> EmbeddedPostgres.start(options)).hasMessageContaining("This JVM already runs");
            try (var child = ChildJvm.persistent(temp)) {
                assertThat(child.awaitLine("failed ")).startsWith("FOLDER_IN_USE");
            }
            assertThat(postgres.pid()).isPositive();
        }
    }

    @Test
    @Tag("thorough")
    void several_jvms_start_at_once_and_unpack_at_once() throws Exception {
        var options = new String[] {"-Dperdure.embedded.cache=" + temp.resolve("cache")};
        try (var first = ChildJvm.temporary(options);
                var second = ChildJvm.temporary(options);
                var third = ChildJvm.temporary(options)) {
            var ports = List.of(first, second, third).stream()
                    .map(child -> child.awaitServer().port())
                    .distinct();
            assertThat(ports).hasSize(3);
            first.terminate();
            second.terminate();
            third.terminate();
        }
        try (var unpacked = Files.list(temp.resolve("cache/postgres"))) {
            assertThat(unpacked).hasSize(1);
        }
    }

    @Test
    @Tag("thorough")
    void ctrl_c_while_unpacking_leaves_nothing() throws Exception {
        var cache = temp.resolve("cache/postgres");
        try (var child = ChildJvm.temporary("-Dperdure.embedded.cache=" + temp.resolve("cache"))) {
            await().until(() -> Files.isDirectory(cache) && !listing(cache).isEmpty());
            child.terminate();
            assertThat(cache).isEmptyDirectory();
        }
    }

    /** Waits a short time, to interrupt a start at one of many moments. */
    private static void letRun(int millis) {
        new CompletableFuture<Void>()
                .completeOnTimeout(null, millis, TimeUnit.MILLISECONDS)
                .join();
    }

    /** Another user with temporary folders in the same place. */
    private void startOnceMore() throws Exception {
        try (var next = ChildJvm.temporary("-Djava.io.tmpdir=" + temp)) {
            next.awaitServer();
            next.terminate();
        }
    }

    /** Kills the JVM and its supervisor, so that no process is left to stop the server. */
    private static ChildJvm.Server orphan(ChildJvm child) throws InterruptedException {
        var server = child.awaitServer();
        var supervisors = child.children();
        supervisors.forEach(ProcessHandle::destroyForcibly);
        child.kill();
        await().until(() -> supervisors.stream().noneMatch(ProcessHandle::isAlive));
        return server;
    }

    private static List<Path> listing(Path folder) throws IOException {
        try (var entries = Files.list(folder)) {
            return entries.toList();
        }
    }

    private static List<ProcessHandle> serversIn(Path temp) throws IOException {
        return listing(temp).stream()
                .flatMap(root -> LeftOver.server(root.resolve("pg")).stream())
                .toList();
    }

    private static List<ProcessHandle> supervisorsIn(Path temp) throws IOException {
        return listing(temp).stream()
                .flatMap(root -> LeftOver.supervisor(root).stream())
                .toList();
    }
}
