package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.perdure.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A server of the PostgreSQL that is installed on this machine, as Debian and Homebrew build it: it compiles statements
 * (JIT), has the modules of contrib, and is of another version than the one from the jar. A test class that needs it
 * calls {@link #start} before all of its tests; without an installation they are skipped, unless
 * {@code PERDURE_REQUIRE_POSTGRES} is set, as by {@code .ci/run}.
 */
final class InstalledPostgres {
    private static final String REQUIRED = "PERDURE_REQUIRE_POSTGRES";
    private static final int OLDEST = 14;
    private static final int NEWEST = 18;

    /** Where distributions put their servers, each below a folder whose name ends with the version. */
    private static final List<Path> PLACES = List.of(
            Path.of("/usr/lib/postgresql"),
            Path.of("/opt/homebrew/opt"),
            Path.of("/usr/local/opt"),
            Path.of("/home/linuxbrew/.linuxbrew/opt"));

    private static final Pattern VERSION = Pattern.compile("(?:postgresql@)?(\\d{2})");

    private static final ReentrantLock LOCK = new ReentrantLock();
    private static @Nullable EmbeddedPostgres server;

    private record Installation(int version, Path programs) {}

    private InstalledPostgres() {}

    /** One server for all test classes of this JVM, which is gone when the JVM is. */
    static EmbeddedPostgres start() {
        LOCK.lock();
        try {
            EmbeddedPostgres running = server;
            if (running == null) {
                running = EmbeddedPostgres.start(EmbeddedPostgres.options()
                        .programs(programs())
                        .setting("max_connections", "200")
                        .setting("shared_preload_libraries", "auto_explain,pg_stat_statements"));
                server = running;
            }
            return running;
        } finally {
            LOCK.unlock();
        }
    }

    /** The same server, as a {@link TestServer#plain} one. */
    static PGSimpleDataSource plain() {
        EmbeddedPostgres running = start();
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(running.jdbcUrl());
        source.setUser(running.user());
        source.setPassword(running.password());
        return source;
    }

    /** The programs of the newest installation. */
    private static Path programs() {
        Optional<Path> found = find(PLACES);
        String problem = "No PostgreSQL %d to %d of Debian or Homebrew is installed in any of %s"
                .formatted(OLDEST, NEWEST, PLACES);
        if (System.getenv(REQUIRED) == null) {
            assumeThat(found)
                    .as(problem + ": install it to run the tests that need one.")
                    .isPresent();
        } else {
            assertThat(found).as(problem + ", and " + REQUIRED + " is set.").isPresent();
        }
        return found.orElseThrow();
    }

    static Optional<Path> find(List<Path> places) {
        List<Installation> found = new ArrayList<>();
        for (Path place : places) {
            if (Files.isDirectory(place)) {
                found.addAll(below(place));
            }
        }
        return found.stream()
                .max(Comparator.comparingInt(Installation::version))
                .map(Installation::programs);
    }

    private static List<Installation> below(Path place) {
        List<Installation> found = new ArrayList<>();
        try (var folders = Files.newDirectoryStream(place)) {
            for (Path folder : folders) {
                Matcher version = VERSION.matcher(folder.getFileName().toString());
                Path programs = folder.resolve("bin");
                if (version.matches() && Files.isExecutable(programs.resolve("initdb"))) { // clients have none
                    found.add(new Installation(Integer.parseInt(version.group(1)), programs));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        found.removeIf(each -> each.version() < OLDEST || each.version() > NEWEST);
        return found;
    }
}
