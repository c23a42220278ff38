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
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
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
 * {@code payload-<hash>-<size>}, so a payload is there as a whole or not at all. If no row refers to it, it is renamed to
 * {@code released-<hash>-<size>-<time>}, and deleted under that name; to keep it, it is renamed back. The file system
 * does one after the other, so a process that keeps a payload and one that removes it agree on which of them came first.
 * Times are those of the file system.
 */
public final class FolderPayloads implements PayloadStore {
    private static final String UPLOAD = "upload-";
    private static final Pattern NAME =
            Pattern.compile("(?:payload|released)-([0-9a-f]{64})-(\\d{1,18})(?:-(\\d{1,18}))?");

    /** How often to look for a payload under its names, which another process may change meanwhile. */
    private static final int LOOKS = 3;

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
        return folder.resolve("payload-%s-%s".formatted(reference.hash(), reference.size()));
    }

    /**
     * A payload under the name that says since when no row has referred to it.
     *
     * @param since in milliseconds, by the clock of the file system
     */
    private record Released(Path file, PayloadReference reference, long since) {}

    private List<Released> released() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> {
                        Matcher name = NAME.matcher(nameOf(file));
                        return name.matches() && name.group(3) != null
                                ? Optional.of(new Released(file, reference(name), Long.parseLong(name.group(3))))
                                : Optional.<Released>empty();
                    })
                    .flatMap(Optional::stream)
                    .toList();
        }
    }

    private List<Released> released(PayloadReference reference) throws IOException {
        return released().stream()
                .filter(each -> each.reference().equals(reference))
                .toList();
    }

    private static PayloadReference reference(Matcher name) {
        return new PayloadReference(name.group(1), Long.parseLong(name.group(2)));
    }

    // ---- writing

    @Override
    public void write(UUID upload, int number, byte[] chunk) {
        Set<StandardOpenOption> access = number == 0
                ? EnumSet.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE)
                : EnumSet.of(StandardOpenOption.WRITE);
        onFiles(() -> {
            try (FileChannel channel = FileChannel.open(upload(upload), access)) {
                long at = (long) number * CHUNK_BYTES;
                ByteBuffer rest = ByteBuffer.wrap(chunk);
                while (rest.hasRemaining()) {
                    at += channel.write(rest, at);
                }
                return at;
            } catch (NoSuchFileException removed) {
                if (number == 0) {
                    throw removed;
                }
                return 0L; // The chunks before were removed by their age. A new file would have a hole in their place.
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
        if (!Files.exists(file(reference))) {
            keep(released(reference));
        }
        return Files.exists(file(reference));
    }

    /** Gives payloads their names back. If there is such a file already, it has the same content. */
    private void keep(List<Released> payloads) throws IOException {
        for (Released each : payloads) {
            if (isMoved(each.file(), file(each.reference()))) {
                sync(folder, StandardOpenOption.READ);
            }
        }
    }

    /** Renames a file, if it has not been renamed or removed meanwhile. */
    private static boolean isMoved(Path from, Path to) throws IOException {
        try {
            Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
            return true;
        } catch (NoSuchFileException another) {
            return false;
        }
    }

    // ---- reading

    @Override
    public Optional<byte[]> read(PayloadReference reference, int number) {
        return onFiles(() -> {
            for (int look = 0; look < LOOKS; look++) {
                List<Path> names = new ArrayList<>(List.of(file(reference)));
                if (!Files.exists(names.getFirst())) {
                    released(reference).forEach(each -> names.add(each.file()));
                }
                for (Path name : names) {
                    try (FileChannel channel = FileChannel.open(name, StandardOpenOption.READ)) {
                        return chunk(channel, number);
                    } catch (NoSuchFileException another) {
                        // It has another name, or is gone.
                    }
                }
            }
            return Optional.<byte[]>empty();
        });
    }

    private static Optional<byte[]> chunk(FileChannel channel, int number) throws IOException {
        long from = (long) number * CHUNK_BYTES;
        long length = Math.min(CHUNK_BYTES, channel.size() - from);
        if (length <= 0) {
            return Optional.empty();
        }
        ByteBuffer chunk = ByteBuffer.allocate((int) length);
        while (chunk.hasRemaining() && channel.read(chunk, from + chunk.position()) >= 0) {
            // A file may be read in pieces.
        }
        return Optional.of(chunk.array());
    }

    @Override
    public List<PayloadReference> list(@Nullable PayloadReference after, int limit) {
        return onFiles(() -> {
            try (Stream<Path> files = Files.list(folder)) {
                return files.map(file -> NAME.matcher(nameOf(file)))
                        .filter(Matcher::matches)
                        .map(FolderPayloads::reference)
                        .distinct()
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
            keep(released().stream()
                    .filter(each -> referred.contains(each.reference()))
                    .toList());
            long now = now().toEpochMilli();
            for (PayloadReference reference : unreferred) {
                boolean unused = isMoved(file(reference), released(reference, now));
            }
            int removed = 0;
            for (Released each : released()) {
                boolean over = unreferred.contains(each.reference()) && each.since() <= now - after.toMillis();
                removed += over && Files.deleteIfExists(each.file()) ? 1 : 0;
            }
            return removed;
        });
    }

    private Path released(PayloadReference reference, long since) {
        return folder.resolve("released-%s-%s-%s".formatted(reference.hash(), reference.size(), since));
    }

    @Override
    public int removeUploads(Duration after) {
        return onFiles(() -> {
            Instant limit = now().minus(after);
            int removed = 0;
            try (Stream<Path> files = Files.list(folder)) {
                for (Path file :
                        files.filter(file -> nameOf(file).startsWith(UPLOAD)).toList()) {
                    removed += isWrittenBy(limit, file) && Files.deleteIfExists(file) ? 1 : 0;
                }
            }
            return removed;
        });
    }

    private static boolean isWrittenBy(Instant limit, Path file) throws IOException {
        try {
            return !Files.getLastModifiedTime(file).toInstant().isAfter(limit);
        } catch (NoSuchFileException another) {
            return false; // Another process has removed or named it.
        }
    }

    /** By the clock of the file system. */
    private Instant now() throws IOException {
        Path probe = Files.createTempFile(folder, "now-", "");
        try {
            return Files.getLastModifiedTime(probe).toInstant();
        } finally {
            Files.deleteIfExists(probe);
        }
    }
}
