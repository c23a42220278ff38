package dev.perdure.embedded;

import dev.perdure.embedded.EmbeddedPostgresException.Reason;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * The platform of this JVM.
 *
 * @param name the platform's name in the artifact with the binaries
 * @param archive the name of the archive inside that artifact
 */
record Platform(String name, String archive) {
    static final String CACHE_PROPERTY = "perdure.embedded.cache";

    static Platform current() {
        return of(
                System.getProperty("os.name", ""),
                System.getProperty("os.arch", ""),
                Files.exists(Path.of("/etc/alpine-release")));
    }

    static Platform of(String osName, String osArch, boolean alpine) {
        var os = osName.toLowerCase(Locale.ROOT);
        var amd64 = osArch.equals("amd64") || osArch.equals("x86_64");
        var arm64 = osArch.equals("aarch64");
        if (os.equals("linux") && amd64) {
            return alpine
                    ? new Platform("linux-amd64-alpine", "postgres-linux-x86_64-alpine_linux.txz")
                    : new Platform("linux-amd64", "postgres-linux-x86_64.txz");
        }
        if (os.equals("linux") && arm64 && !alpine) {
            return new Platform("linux-arm64v8", "postgres-linux-arm_64.txz");
        }
        if (os.startsWith("mac") && amd64) {
            return new Platform("darwin-amd64", "postgres-darwin-x86_64.txz");
        }
        if (os.startsWith("mac") && arm64) {
            return new Platform("darwin-arm64v8", "postgres-darwin-arm_64.txz");
        }
        throw new EmbeddedPostgresException(
                Reason.NO_BINARIES,
                "There is no embedded PostgreSQL for %s on %s%s. It runs on Linux and macOS, on x86-64 and ARM64. "
                                .formatted(osName, osArch, alpine ? " (Alpine)" : "")
                        + "Use your own PostgreSQL server here. On Windows you can also use WSL.");
    }

    /** {@return the folder of this user's unpacked binaries} */
    Path cache() {
        var configured = System.getProperty(CACHE_PROPERTY);
        if (configured != null) {
            return Path.of(configured).toAbsolutePath();
        }
        var home = Path.of(System.getProperty("user.home", "."));
        if (name.startsWith("darwin")) {
            return home.resolve("Library/Caches/perdure").toAbsolutePath();
        }
        var xdg = System.getenv("XDG_CACHE_HOME");
        var caches = xdg == null || xdg.isBlank() ? home.resolve(".cache") : Path.of(xdg);
        return caches.resolve("perdure").toAbsolutePath();
    }
}
