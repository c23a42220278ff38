package dev.perdure.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.perdure.embedded.EmbeddedPostgresException.Reason;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BadInputIT {
    @TempDir
    Path temp;

    @Test
    void a_port_that_is_taken_is_named() throws IOException {
        try (var taken = new ServerSocket(0, 1, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}))) {
            var failure = failure(EmbeddedPostgres.options().dataFolder(temp).port(taken.getLocalPort()));
            assertThat(failure.reason()).isEqualTo(Reason.PORT_TAKEN);
            assertThat(failure).hasMessageStartingWith("Port " + taken.getLocalPort() + " on 127.0.0.1 is taken. Stop");
        }
    }

    @Test
    void a_folder_with_something_else_in_it_is_left_alone() throws IOException {
        Files.writeString(temp.resolve("thesis.txt"), "precious");
        var failure = failure(EmbeddedPostgres.options().dataFolder(temp));
        assertThat(failure.reason()).isEqualTo(Reason.FOLDER_UNUSABLE);
        assertThat(failure).hasMessageContaining("holds other files");
        assertThat(temp.toFile().list()).containsExactly("thesis.txt");
    }

    @Test
    void a_folder_without_the_programs_of_a_server_is_named() {
        var failure = failure(EmbeddedPostgres.options().programs(temp));
        assertThat(failure.reason()).isEqualTo(Reason.NO_BINARIES);
        assertThat(failure)
                .hasMessage(
                        "The folder " + temp + " does not have PostgreSQL's programs initdb, pg_ctl, postgres. "
                                + "Name the folder of a server, such as /usr/lib/postgresql/17/bin, or use the one from the jar.");
    }

    @Test
    void a_folder_that_cannot_be_made_is_named() throws IOException {
        var file = Files.writeString(temp.resolve("file"), "");
        var failure = failure(EmbeddedPostgres.options().dataFolder(file.resolve("below")));
        assertThat(failure.reason()).isEqualTo(Reason.FOLDER_UNUSABLE);
        assertThat(failure).hasMessageContaining(file.resolve("below").toString());
    }

    @Test
    void data_of_another_major_version_are_refused_untouched() throws IOException {
        var options = EmbeddedPostgres.options().dataFolder(temp);
        EmbeddedPostgres.start(options).close();
        Files.writeString(temp.resolve("pg/PG_VERSION"), "15\n");
        var failure = failure(options);
        assertThat(failure.reason()).isEqualTo(Reason.OTHER_VERSION);
        assertThat(failure).hasMessageContaining("are of PostgreSQL 15, but the binaries are of 18.");
        Files.writeString(temp.resolve("pg/PG_VERSION"), "18\n");
        EmbeddedPostgres.start(options).close();
    }

    @Test
    void a_setting_the_server_refuses_is_quoted_from_its_log() {
        var failure = failure(EmbeddedPostgres.options().setting("shared_buffers", "a lot"));
        assertThat(failure.reason()).isEqualTo(Reason.START_FAILED);
        assertThat(failure).hasMessageContaining("invalid value for parameter \"shared_buffers\": \"a lot\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1m", "20m"})
    void a_full_disk_is_called_one(String size) throws IOException, InterruptedException {
        var tmpfs = List.of(
                "unshare",
                "--mount",
                "sh",
                "-c",
                "mount -t tmpfs -o size=" + size + " tmpfs \"$0\" && exec \"$@\"",
                temp.toString());
        assumeTrue(works(tmpfs), "needs the right to mount");
        EmbeddedPostgres.start(EmbeddedPostgres.options()).close();
        try (var child = ChildJvm.launch(tmpfs, List.of(), temp.resolve("data").toString())) {
            var failed = child.awaitLine("failed ");
            assertThat(failed)
                    .startsWith("DISK_FULL")
                    .contains("The disk is full")
                    .contains("Make room");
            assertThat(child.rest()).contains("No space left on device");
        }
    }

    @Test
    void a_full_disk_while_unpacking_is_called_one() throws IOException, InterruptedException {
        var tmpfs = List.of(
                "unshare",
                "--mount",
                "sh",
                "-c",
                "mount -t tmpfs -o size=10m tmpfs \"$0\" && exec \"$@\"",
                temp.toString());
        assumeTrue(works(tmpfs), "needs the right to mount");
        try (var child = ChildJvm.launch(tmpfs, List.of("-Dperdure.embedded.cache=" + temp), "temporary")) {
            assertThat(child.awaitLine("failed ")).startsWith("DISK_FULL Cannot unpack PostgreSQL into " + temp);
        }
    }

    private static boolean works(List<String> prefix) throws IOException, InterruptedException {
        var command = new java.util.ArrayList<>(prefix);
        command.add("true");
        return new ProcessBuilder(command).start().waitFor() == 0;
    }

    private static EmbeddedPostgresException failure(Options options) {
        return catchThrowableOfType(
                EmbeddedPostgresException.class,
                () -> EmbeddedPostgres.start(options).close());
    }
}
