package dev.perdure.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.perdure.embedded.EmbeddedPostgresException.Reason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The folder of one server: PostgreSQL's own data in {@code pg}, and beside it the password, the log, and who uses it.
 *
 * <p><b>Who owns it.</b> A JVM owns the folder while it holds a lock on {@code lock}, which the system releases however
 * that JVM dies, and while {@code owner.properties} names a living JVM by pid and start time. Either is enough to keep
 * others away: the lock also works between containers that share the folder but not their pids, and the file also says
 * whom to ask. The file is written last and removed first, so a folder with it always has a lock to ask for. The name
 * of a temporary folder begins with its maker's pid, for the moments before the file is written and after it is removed.
 *
 * <p>Closing any channel of a file releases all locks this JVM has on it; so one that is held here is never opened a
 * second time.
 */
final class DataFolder {
    static final String TEMPORARY_PREFIX = "perdure-postgres-";

    /** Which folders this JVM has locked; file locks do not guard against ourselves. */
    private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

    private static final Duration CLOCK_TOLERANCE = Duration.ofSeconds(5);
    private static final String OWNER = "owner.properties";
    private static final String LOCK = "lock";

    private final Path root;
    private final boolean temporary;
    private final FileChannel lock;

    private DataFolder(Path root, boolean temporary, FileChannel lock) {
        this.root = root;
        this.temporary = temporary;
        this.lock = lock;
    }

    static DataFolder createTemporary() {
        try {
            var root = Files.createTempDirectory(
                            TEMPORARY_PREFIX + ProcessHandle.current().pid() + "-")
                    .toRealPath();
            return acquire(root, true).orElseThrow(() -> new IOException("somebody else took the new folder " + root));
        } catch (IOException e) {
            throw StartFailure.of("make a temporary folder for the server", e);
        }
    }

    static DataFolder openPersistent(Path folder) {
        try {
            Files.createDirectories(
                    folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            var root = folder.toRealPath();
            if (!Files.exists(root.resolve(LOCK)) && !empty(root)) {
                throw new EmbeddedPostgresException(
                        Reason.FOLDER_UNUSABLE,
                        "The folder " + root + " holds something else. Choose an empty one, or one made here before.");
            }
            return acquire(root, false).orElseThrow(() -> inUse(root));
        } catch (IOException e) {
            throw StartFailure.of("use the folder " + folder, e);
        }
    }

    /** {@return the temporary folder of a dead JVM, now ours; empty if it is not such a one} */
    static Optional<DataFolder> abandoned(Path root) throws IOException {
        var owner = owner(root);
        var ours = owner.isEmpty() ? !makerLives(root) : temporary(owner);
        return Files.isDirectory(root) && ours ? acquire(root.toRealPath(), true) : Optional.empty();
    }

    /** {@return whether the maker of an unsigned temporary folder may still be about to sign it} */
    private static boolean makerLives(Path root) {
        var name = root.getFileName().toString();
        var pid = name.substring(TEMPORARY_PREFIX.length(), Math.max(TEMPORARY_PREFIX.length(), name.lastIndexOf('-')));
        return !pid.matches("[0-9]{1,18}")
                || ProcessHandle.of(Long.parseLong(pid)).isPresent();
    }

    private static Optional<DataFolder> acquire(Path root, boolean temporary) throws IOException {
        if (alive(owner(root)) || !HELD.add(root)) {
            return Optional.empty();
        }
        FileChannel channel = null;
        try {
            channel = FileChannel.open(
                    root.resolve(LOCK), Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE), privately());
            if (channel.tryLock() != null) {
                var folder = new DataFolder(root, temporary, channel);
                folder.sign();
                return Optional.of(folder);
            }
        } catch (OverlappingFileLockException e) {
            // This JVM holds it, through another class loader.
        } catch (IOException e) {
            abandon(root, channel);
            throw e;
        }
        abandon(root, channel);
        return Optional.empty();
    }

    private static void abandon(Path root, @Nullable FileChannel channel) throws IOException {
        HELD.remove(root);
        if (channel != null) {
            channel.close();
        }
    }

    Path root() {
        return root;
    }

    /** {@return PostgreSQL's own data folder, which exists once it is complete} */
    Path data() {
        return root.resolve("pg");
    }

    boolean temporary() {
        return temporary;
    }

    /** {@return the password, made at random at the first call} */
    String password() {
        var file = root.resolve("password");
        try {
            if (!Files.exists(file)) {
                var random = new byte[24];
                new SecureRandom().nextBytes(random);
                write(file, Base64.getUrlEncoder().withoutPadding().encodeToString(random) + "\n");
            }
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw StartFailure.of("keep the password in " + root, e);
        }
    }

    void settings(Map<String, String> settings) {
        var lines = new StringBuilder("# Written at every start; changes made here are lost.\n");
        settings.forEach((name, value) -> lines.append(name)
                .append(" = '")
                .append(value.replace("\\", "\\\\").replace("'", "''"))
                .append("'\n"));
        try {
            write(root.resolve("settings.conf"), lines.toString());
        } catch (IOException e) {
            throw StartFailure.of("write the settings in " + root, e);
        }
    }

    void install(String name, byte[] content) {
        try {
            Files.write(root.resolve(name), content);
        } catch (IOException e) {
            throw StartFailure.of("write to " + root, e);
        }
    }

    /** Refuses data that the binaries cannot read. */
    void checkVersion(Binaries binaries) {
        try {
            var file = data().resolve("PG_VERSION");
            var found = Files.exists(file) ? Files.readString(file).strip() : binaries.majorVersion();
            if (!found.equals(binaries.majorVersion())) {
                throw new EmbeddedPostgresException(
                        Reason.OTHER_VERSION,
                        "The data in %s were made by PostgreSQL %s, and this is %s. Use the binaries of version %s, or "
                                        .formatted(root, found, binaries.version(), found)
                                + "another folder.");
            }
        } catch (IOException e) {
            throw StartFailure.of("read the folder " + root, e);
        }
    }

    /** Gives the folder back, and deletes it if it is a temporary one. The server must be down. */
    void release() {
        try (lock) {
            Files.deleteIfExists(root.resolve(OWNER));
            if (temporary && Files.exists(root)) {
                FileTree.delete(root);
            }
        } catch (IOException e) {
            throw StartFailure.of("clear up the folder " + root, e);
        } finally {
            HELD.remove(root);
        }
    }

    private void sign() throws IOException {
        var us = ProcessHandle.current();
        write(
                root.resolve(OWNER),
                "pid=%d%nstarted=%s%ntemporary=%s%n"
                        .formatted(us.pid(), us.info().startInstant().orElse(Instant.EPOCH), temporary));
    }

    private static void write(Path file, String content) throws IOException {
        // Through a second file: whoever reads this one finds it whole.
        var next = file.resolveSibling(file.getFileName() + ".new");
        Files.deleteIfExists(next);
        try (var channel =
                FileChannel.open(next, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), privately())) {
            channel.write(ByteBuffer.wrap(content.getBytes(UTF_8)));
            channel.force(true);
        }
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private static FileAttribute<?> privately() {
        return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    }

    private static boolean empty(Path folder) throws IOException {
        try (var entries = Files.newDirectoryStream(folder)) {
            return !entries.iterator().hasNext();
        }
    }

    private static EmbeddedPostgresException inUse(Path root) {
        var pid = owner(root).getProperty("pid", "unknown");
        return new EmbeddedPostgresException(
                Reason.FOLDER_IN_USE,
                pid.equals(Long.toString(ProcessHandle.current().pid()))
                        ? "This JVM already runs a server on " + root + ". Use that one, or close it first."
                        : "The JVM with pid " + pid + " runs a server on " + root
                                + ". Stop it, or use another folder.");
    }

    private static Properties owner(Path root) {
        var owner = new Properties();
        try (var in = Files.newInputStream(root.resolve(OWNER))) {
            owner.load(in);
        } catch (IOException | IllegalArgumentException e) {
            owner.clear(); // Nobody has signed.
        }
        return owner;
    }

    private static boolean temporary(Properties owner) {
        return Boolean.parseBoolean(owner.getProperty("temporary"));
    }

    private static boolean alive(Properties owner) {
        var pid = owner.getProperty("pid");
        var started = owner.getProperty("started");
        return pid != null
                && started != null
                && ProcessHandle.of(Long.parseLong(pid))
                        .flatMap(process -> process.info().startInstant())
                        .filter(instant -> close(instant, Instant.parse(started)))
                        .isPresent();
    }

    /** {@return whether two readings of a start time mean the same process; the system's clock may have been set} */
    static boolean close(Instant a, Instant b) {
        return Duration.between(a, b).abs().compareTo(CLOCK_TOLERANCE) <= 0;
    }
}
