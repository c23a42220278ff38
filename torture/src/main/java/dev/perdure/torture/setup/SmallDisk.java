package dev.perdure.torture.setup;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A file system in memory that is so small that it can be filled. */
public final class SmallDisk implements AutoCloseable {
    private static final int CHUNK = 64 * 1024;
    private static final String PREFIX = "perdure-disk-";

    private final Path root;
    private final String size;

    private SmallDisk(Path root, String size) {
        this.root = root;
        this.size = size;
    }

    /** Mounts one; nothing where this process may not. */
    static Optional<SmallDisk> mount(String size) {
        try {
            Path root =
                    Files.createTempDirectory(PREFIX + ProcessHandle.current().pid() + "-");
            unmountAbandoned(root.resolveSibling(""));
            if (run("mount", "-t", "tmpfs", "-o", "mode=755,size=" + size, "tmpfs", root.toString())) {
                return Optional.of(new SmallDisk(root, size));
            }
            Files.delete(root);
            return Optional.empty();
        } catch (IOException none) {
            return Optional.empty();
        }
    }

    /** As it was given to {@link #mount}. */
    String size() {
        return size;
    }

    /** Unmounts those of processes that were killed. */
    private static void unmountAbandoned(Path parent) throws IOException {
        try (DirectoryStream<Path> all = Files.newDirectoryStream(parent, PREFIX + "*-*")) {
            for (Path each : all) {
                String pid = each.getFileName().toString().split("-", -1)[2];
                if (pid.matches("\\d{1,18}")
                        && ProcessHandle.of(Long.parseLong(pid)).isEmpty()) {
                    new SmallDisk(each, "").close();
                }
            }
        }
    }

    private static boolean run(String... command) throws IOException {
        try {
            return new ProcessBuilder(command)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .redirectError(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted.", interrupted);
        }
    }

    /** Where a server may keep its data. */
    Path folder() {
        return root.resolve("server");
    }

    private Path filling() {
        return root.resolve("filling");
    }

    /** Uses up all that is free. */
    public void fill() throws IOException {
        try (OutputStream out = Files.newOutputStream(filling())) {
            while (true) {
                out.write(new byte[CHUNK]);
            }
        } catch (IOException full) {
            if (root.toFile().getUsableSpace() > CHUNK) {
                throw full;
            }
        }
    }

    /** Gives it back. */
    public void empty() throws IOException {
        Files.deleteIfExists(filling());
    }

    @Override
    public void close() {
        try {
            if (run("umount", root.toString()) || run("umount", "-l", root.toString())) {
                Files.delete(root);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
