package dev.perdure.torture.setup;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;

/** Where a server has its data: a folder, or a small file system of its own. Closing it deletes all of it. */
final class ServerFolder implements AutoCloseable {
    private final Path path;
    private final Optional<SmallDisk> disk;

    private ServerFolder(Path path, Optional<SmallDisk> disk) {
        this.path = path;
        this.disk = disk;
    }

    /** A new one, empty; on a file system of this size, if there is one, and if this process may mount one. */
    static ServerFolder create(Optional<String> size) throws IOException {
        Optional<SmallDisk> disk = size.flatMap(SmallDisk::mount);
        Path path = disk.isPresent()
                ? Files.createDirectory(disk.get().folder())
                : Files.createTempDirectory("perdure-torture-server");
        return new ServerFolder(path, disk);
    }

    Path path() {
        return path;
    }

    /** The file system, if it can be filled. */
    Optional<SmallDisk> disk() {
        return disk;
    }

    @Override
    public void close() {
        if (disk.isPresent()) {
            disk.get().close();
            return;
        }
        try {
            deleteBelow(path);
            Files.delete(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Deletes all that a folder contains. */
    static void deleteBelow(Path folder) throws IOException {
        try (Stream<Path> below = Files.walk(folder)) {
            for (Path each : below.sorted(Comparator.reverseOrder()).toList()) {
                if (!each.equals(folder)) {
                    Files.delete(each);
                }
            }
        }
    }
}
