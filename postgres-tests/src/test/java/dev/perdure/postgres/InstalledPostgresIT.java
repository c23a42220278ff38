package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The server of the machine's own PostgreSQL has what the one from the jar lacks. */
final class InstalledPostgresIT {
    @Test
    void it_compiles_statements_and_has_the_modules_of_contrib() {
        EmbeddedPostgres server = InstalledPostgres.start();
        assertThat(InstalledPostgres.start()).isSameAs(server);
        assertThat(InstalledPostgres.query("SELECT current_setting('jit') || ' ' || pg_jit_available()"))
                .isEqualTo("on true");
        assertThat(InstalledPostgres.query("SHOW shared_preload_libraries"))
                .isEqualTo("auto_explain,pg_stat_statements");
        assertThat(InstalledPostgres.query("SHOW server_version")).startsWith(server.version());
    }

    @Test
    void the_newest_server_is_found_and_clients_are_not(@TempDir Path debian, @TempDir Path homebrew)
            throws IOException {
        assertThat(InstalledPostgres.find(List.of(debian, debian.resolve("none"))))
                .isEmpty();
        install(debian, "13");
        Files.createDirectories(debian.resolve("17/bin"));
        assertThat(InstalledPostgres.find(List.of(debian))).isEmpty();
        Path older = install(debian, "15");
        install(debian, "99");
        assertThat(InstalledPostgres.find(List.of(debian, homebrew))).contains(older);
        install(homebrew, "postgresql");
        Path newer = install(homebrew, "postgresql@16");
        assertThat(InstalledPostgres.find(List.of(debian, homebrew))).contains(newer);
    }

    private static Path install(Path place, String name) throws IOException {
        Path programs = Files.createDirectories(place.resolve(name).resolve("bin"));
        Files.createFile(
                programs.resolve("initdb"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        return programs;
    }
}
