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
 * The folder of one server: PostgreSQL's own data in {@code pg}, and next to it the password, the log and the owner.
 *
 * <p><b>Ownership.</b> A JVM owns the folder while it holds a lock on the file {@code lock}, which the operating system
 * releases however that JVM dies, and while {@code owner.properties} names it, by pid and start time, as a live JVM.
 * Each of the two keeps other JVMs out. The lock also works between containers that share the folder but not their
 * pids. The file also tells which JVM owns the folder. The owner writes the file last and removes it first, so a folder
 * with the file always has a lock. The name of a temporary folder begins with the pid of the JVM that creates it, for
 * the moments before the file is written and after it is removed.
 *
 * <p>Closing any channel of a file releases all locks that this JVM has on it. So this class never opens the lock file
 * a second time while it holds the lock.
 */
final class DataFolder {
    static final String TEMPORARY_PREFIX = "perdure-postgres-";

    /** The folders that this JVM has locked. File locks do not exclude other threads of the same JVM. */
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
            return acquire(root, true)
                    .orElseThrow(() -> new IOException("another process took the new folder " + root));
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
                        "The folder " + root
                                + " holds other files. Choose an empty folder, or one of an embedded server.");
            }
            return acquire(root, false).orElseThrow(() -> inUse(root));
        } catch (IOException e) {
            throw StartFailure.of("use the folder " + folder, e);
        }
    }

    /** {@return the temporary folder of a dead JVM, locked by this JVM; empty if the folder is not one} */
    static Optional<DataFolder> abandoned(Path root) throws IOException {
        var owner = owner(root);
        var ours = owner.isEmpty() ? !creatorMayLive(root) : temporary(owner);
        return Files.isDirectory(root) && ours ? acquire(root.toRealPath(), true) : Optional.empty();
    }

    /** {@return whether the creator of a temporary folder without an owner file may still write that file} */
    private static boolean creatorMayLive(Path root) {
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
                    root.resolve(LOCK), Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE), ownerOnly());
            if (channel.tryLock() != null) {
                var folder = new DataFolder(root, temporary, channel);
                folder.writeOwner();
                return Optional.of(folder);
            }
        } catch (OverlappingFileLockException e) {
            // This JVM holds the lock through another class loader.
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

    /** {@return PostgreSQL's own data folder; if it exists, it is complete} */
    Path data() {
        return root.resolve("pg");
    }

    boolean temporary() {
        return temporary;
    }

    /** {@return the password; the first call generates it at random} */
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

    /** Throws if the binaries cannot read the data. */
    void checkVersion(Binaries binaries) {
        try {
            var file = data().resolve("PG_VERSION");
            var found = Files.exists(file) ? Files.readString(file).strip() : binaries.majorVersion();
            if (!found.equals(binaries.majorVersion())) {
                throw new EmbeddedPostgresException(
                        Reason.OTHER_VERSION,
                        "The data in %s are of PostgreSQL %s, but the binaries are of %s. Use the binaries of version %s, or "
                                        .formatted(root, found, binaries.version(), found)
                                + "another folder.");
            }
        } catch (IOException e) {
            throw StartFailure.of("read the folder " + root, e);
        }
    }

    /** Releases the folder, and deletes it if it is temporary. The server must be stopped. */
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

    private void writeOwner() throws IOException {
        var us = ProcessHandle.current();
        write(
                root.resolve(OWNER),
                "pid=%s%nstarted=%s%ntemporary=%s%n"
                        .formatted(us.pid(), us.info().startInstant().orElse(Instant.EPOCH), temporary));
    }

    private static void write(Path file, String content) throws IOException {
        // Through a second file, so that a reader never sees a part of the content.
        var next = file.resolveSibling(file.getFileName() + ".new");
        Files.deleteIfExists(next);
        try (var channel =
                FileChannel.open(next, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), ownerOnly())) {
            channel.write(ByteBuffer.wrap(content.getBytes(UTF_8)));
            channel.force(true);
        }
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private static FileAttribute<?> ownerOnly() {
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
            owner.clear(); // The folder has no owner.
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

    /**
     * {@return whether two readings of a start time are of one process, even if the system clock was set in between}
     */
    static boolean close(Instant a, Instant b) {
        return Duration.between(a, b).abs().compareTo(CLOCK_TOLERANCE) <= 0;
    }
}
