package dev.perdure.folder;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.StoreException;
import dev.perdure.internal.text.Texts;
import dev.perdure.spi.payload.PayloadReference;
import dev.perdure.spi.payload.PayloadStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Keeps large payloads in a folder, a file for each. It is for development: the folder has to be within reach of every
 * process, and its backup is not at the same point in time as that of the database. Several engines may share a folder
 * if they are on the same store.
 *
 * <pre>{@code
 * Perdure.on(store).payloadStore(FolderPayloads.in(Path.of("payloads"))).…
 * }</pre>
 *
 * <p>How it works. An upload is a file, {@code upload-<id>}. When it is complete and on disk, it is renamed to
 * {@code payload-<hash>-<size>}, so a payload is there as a whole or not at all. A file {@code released-<hash>-<size>}
 * beside it has since when no row has referred to the payload. Times are those of the file system.
 */
public final class FolderPayloads implements PayloadStore {
    private static final String UPLOAD = "upload-";
    private static final Pattern PAYLOAD = Pattern.compile("payload-([0-9a-f]{64})-(\\d{1,18})");

    private final Path folder;

    private FolderPayloads(Path folder) {
        this.folder = folder;
    }

    /**
     * Keeps payloads in this folder, and creates it if it does not exist.
     *
     * @throws InvalidRequestException if it is not a folder and cannot become one
     */
    public static FolderPayloads in(Path folder) {
        Texts.requireGiven("folder", folder);
        try {
            Files.createDirectories(folder);
        } catch (IOException cause) {
            throw new InvalidRequestException(
                    "'%s' cannot be the folder of payloads: %s. Choose a folder that exists or can be created."
                            .formatted(folder, reason(cause)));
        }
        return new FolderPayloads(folder);
    }

    /** Work on files. */
    @FunctionalInterface
    private interface Work<T extends @Nullable Object> {
        T done() throws IOException;
    }

    private <T extends @Nullable Object> T onFiles(Work<T> work) {
        try {
            return work.done();
        } catch (IOException cause) {
            throw new StoreException(
                    StoreException.Kind.UNAVAILABLE,
                    "The folder of payloads '%s' cannot be used: %s. Check that it exists, that this process may read and write it, and that the disk is not full."
                            .formatted(folder, reason(cause)),
                    cause);
        }
    }

    private static String reason(IOException cause) {
        return cause instanceof FileAlreadyExistsException ? "a file has this name" : cause.toString();
    }

    private static String nameOf(Path file) {
        return String.valueOf(file.getFileName());
    }

    private Path upload(UUID id) {
        return folder.resolve(UPLOAD + id);
    }

    private Path file(PayloadReference reference) {
        return folder.resolve("payload-%s-%d".formatted(reference.hash(), reference.size()));
    }

    private Path released(PayloadReference reference) {
        return folder.resolve("released-%s-%d".formatted(reference.hash(), reference.size()));
    }

    // ---- writing

    @Override
    public void write(UUID upload, int number, byte[] chunk) {
        onFiles(() -> {
            try (FileChannel channel =
                    FileChannel.open(upload(upload), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                long at = (long) number * CHUNK_BYTES;
                ByteBuffer rest = ByteBuffer.wrap(chunk);
                while (rest.hasRemaining()) {
                    at += channel.write(rest, at);
                }
                return at;
            }
        });
    }

    @Override
    public boolean finish(UUID upload, PayloadReference reference) {
        return onFiles(() -> {
            Path written = upload(upload);
            if (kept(reference)) {
                Files.deleteIfExists(written);
                return true;
            }
            if (!Files.exists(written) || Files.size(written) != reference.size()) {
                return false;
            }
            sync(written, StandardOpenOption.WRITE);
            Files.move(written, file(reference), StandardCopyOption.ATOMIC_MOVE);
            sync(folder, StandardOpenOption.READ);
            return true;
        });
    }

    /** Makes a file durable, or the names in a folder. */
    private static void sync(Path path, StandardOpenOption access) throws IOException {
        try (FileChannel channel = FileChannel.open(path, access)) {
            channel.force(true);
        }
    }

    @Override
    public void discard(UUID upload) {
        onFiles(() -> Files.deleteIfExists(upload(upload)));
    }

    @Override
    public boolean keep(PayloadReference reference) {
        return onFiles(() -> kept(reference));
    }

    private boolean kept(PayloadReference reference) throws IOException {
        Files.deleteIfExists(released(reference));
        return Files.exists(file(reference));
    }

    // ---- reading

    @Override
    public Optional<byte[]> read(PayloadReference reference, int number) {
        return onFiles(() -> {
            try (FileChannel channel = FileChannel.open(file(reference), StandardOpenOption.READ)) {
                long from = (long) number * CHUNK_BYTES;
                long length = Math.min(CHUNK_BYTES, channel.size() - from);
                if (length <= 0) {
                    return Optional.<byte[]>empty();
                }
                ByteBuffer chunk = ByteBuffer.allocate((int) length);
                while (chunk.hasRemaining() && channel.read(chunk, from + chunk.position()) >= 0) {
                    // A file may be read in pieces.
                }
                return Optional.of(chunk.array());
            } catch (NoSuchFileException missing) {
                return Optional.<byte[]>empty();
            }
        });
    }

    @Override
    public List<PayloadReference> list(@Nullable PayloadReference after, int limit) {
        return onFiles(() -> {
            try (Stream<Path> files = Files.list(folder)) {
                return files.map(file -> PAYLOAD.matcher(nameOf(file)))
                        .filter(Matcher::matches)
                        .map(name -> new PayloadReference(name.group(1), Long.parseLong(name.group(2))))
                        .filter(found -> after == null || found.hash().compareTo(after.hash()) > 0)
                        .sorted(Comparator.comparing(PayloadReference::hash))
                        .limit(limit)
                        .toList();
            }
        });
    }

    // ---- removing

    @Override
    public int remove(Collection<PayloadReference> unreferred, Collection<PayloadReference> referred, Duration after) {
        return onFiles(() -> {
            for (PayloadReference reference : referred) {
                Files.deleteIfExists(released(reference));
            }
            int removed = 0;
            for (PayloadReference reference : unreferred) {
                removed += isReleased(reference, after) ? removed(reference) : 0;
            }
            return removed;
        });
    }

    private boolean isReleased(PayloadReference reference, Duration after) throws IOException {
        Path since = released(reference);
        if (!Files.exists(since)) {
            Files.write(since, new byte[0]);
        }
        return isOlder(since, after);
    }

    private int removed(PayloadReference reference) throws IOException {
        boolean there = Files.deleteIfExists(file(reference));
        Files.deleteIfExists(released(reference));
        return there ? 1 : 0;
    }

    @Override
    public int removeUploads(Duration after) {
        return onFiles(() -> {
            int removed = 0;
            try (Stream<Path> files = Files.list(folder)) {
                for (Path file :
                        files.filter(file -> nameOf(file).startsWith(UPLOAD)).toList()) {
                    removed += isOlder(file, after) && Files.deleteIfExists(file) ? 1 : 0;
                }
            }
            return removed;
        });
    }

    /** Whether a file was last written at least so long ago, by the clock of the file system. */
    private boolean isOlder(Path file, Duration age) throws IOException {
        Path probe = Files.createTempFile(folder, "now-", "");
        try {
            Instant now = Files.getLastModifiedTime(probe).toInstant();
            return !Files.getLastModifiedTime(file).toInstant().plus(age).isAfter(now);
        } catch (NoSuchFileException another) {
            return false; // Another process has removed or named it.
        } finally {
            Files.deleteIfExists(probe);
        }
    }
}
