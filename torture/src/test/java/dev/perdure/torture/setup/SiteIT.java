package dev.perdure.torture.setup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a process leaves behind that had servers, a standby and small file systems. */
@Tag("thorough")
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class SiteIT {
    @TempDir
    private Path folder;

    @TempDir
    private Path logs;

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void leaves_nothing_behind_when_it_is_closed_or_its_process_is_terminated(boolean closed) throws Exception {
        try (WorkerProcess holder = WorkerProcess.start(
                List.of("-Djava.io.tmpdir=" + folder),
                SiteHolder.class,
                List.of(logs.toString()),
                ProcessBuilder.Redirect.INHERIT)) {
            holder.ready();
            assertThat(files(folder))
                    .as("a primary, its standby, and the server of the ledger")
                    .hasSize(3);
            if (closed) {
                holder.end();
            } else {
                holder.signal("TERM");
            }
            holder.exitCode();
        }
        assertThat(files(folder)).isEmpty();
        if (Files.exists(Path.of("/proc/mounts"))) {
            assertThat(Files.readString(Path.of("/proc/mounts"))).doesNotContain(folder.toString());
        }
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }
}
