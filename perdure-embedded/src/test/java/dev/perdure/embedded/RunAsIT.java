package dev.perdure.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Starts a server as root where user namespaces are forbidden, as in most containers. */
class RunAsIT {
    @TempDir
    Path temp;

    @BeforeEach
    void needs_root() throws Exception {
        assumeTrue(
                Integer.valueOf(0).equals(Files.getAttribute(temp, "unix:uid")), "only root can become another user");
        Files.setPosixFilePermissions(temp, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @Test
    void the_server_runs_as_another_user_and_ends_with_its_jvm() throws Exception {
        try (var child =
                ChildJvm.launch(List.of(), options(), temp.resolve("data").toString())) {
            var server = child.awaitServer();
            assertThat(Files.getAttribute(Path.of("/proc", Long.toString(server.pid())), "unix:uid"))
                    .isEqualTo(65_534);
            assertThat(child.terminate()).isEqualTo(143);
            assertThat(server.alive()).isFalse();
        }
    }

    @Test
    @Tag("thorough")
    void a_killed_jvm_leaves_nothing_of_another_user_either() throws Exception {
        var elsewhere = Files.createDirectory(temp.resolve("elsewhere"));
        Files.setPosixFilePermissions(elsewhere, PosixFilePermissions.fromString("rwxrwxrwx"));
        var apart = Stream.concat(options().stream(), Stream.of("-Djava.io.tmpdir=" + elsewhere))
                .toList();
        try (var child = ChildJvm.launch(List.of(), apart, "temporary")) {
            var server = child.awaitServer();
            child.kill();
            await().atMost(Duration.ofMinutes(1)).until(() -> !server.alive() && !Files.exists(server.folder()));
        }
    }

    private List<String> options() {
        return List.of("-Dperdure.embedded.uid=65534", "-Dperdure.embedded.cache=" + temp.resolve("cache"));
    }
}
