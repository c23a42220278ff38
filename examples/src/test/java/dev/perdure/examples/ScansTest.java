package dev.perdure.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.memory.MemoryStore;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ScansTest {
    private static final int SIZE = 3_000_000;

    /** Every document has so many bytes. */
    private static final class Copier implements Scans.Office {
        @Override
        public Scans.Scan scan(String name) {
            return new Scans.Scan(name, new byte[SIZE]);
        }

        @Override
        public String read(Scans.Scan scan) {
            return scan.name() + ": " + scan.image().length;
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_large_scan_is_read_after_a_crash(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Scans(new Copier())).maxPayloadBytes(2 * SIZE);
            perdure.crashAfterNextCommit();
            assertThat(perdure.start(Scans::scan, "contract").result()).isEqualTo("contract: " + SIZE);
        }
    }

    @Test
    void scans_are_kept_in_a_folder(@TempDir Path folder) {
        MemoryStore store = new MemoryStore();
        try (Perdure perdure =
                Scans.inFolder(store, folder).register(new Scans(new Copier())).start()) {
            assertThat(perdure.start(Scans::scan, "contract").result()).isEqualTo("contract: " + SIZE);
        }
        assertThat(folder)
                .isDirectoryContaining(file -> file.getFileName().toString().startsWith("payload-"));
        assertThat(store.payloads().list(null, 1)).isEmpty();
    }
}
