package dev.perdure.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.function.BooleanSupplier;

/**
 * Unpacks the tar archives of PostgreSQL's binaries: files, folders and symbolic links, with their modes. It refuses
 * other kinds of entries, and entries that point outside the folder.
 */
final class Tar {
    private static final int BLOCK = 512;

    private final InputStream in;
    private final Path target;
    private final BooleanSupplier cancelled;

    private Tar(InputStream in, Path target, BooleanSupplier cancelled) {
        this.in = in;
        this.target = target;
        this.cancelled = cancelled;
    }

    static void unpack(InputStream in, Path target, BooleanSupplier cancelled) throws IOException {
        new Tar(in, target, cancelled).unpack();
    }

    private void unpack() throws IOException {
        var header = new byte[BLOCK];
        var longName = "";
        while (in.readNBytes(header, 0, BLOCK) == BLOCK && header[0] != 0) {
            if (cancelled.getAsBoolean()) {
                throw new IOException("unpacking was cancelled");
            }
            var size = octal(header, 124, 12);
            if (header[156] == 'L') {
                longName = text(contents(size), 0, (int) size);
            } else {
                entry(header, longName.isEmpty() ? name(header) : longName, size);
                longName = "";
            }
        }
    }

    private void entry(byte[] header, String name, long size) throws IOException {
        var path = inside(target.resolve(name));
        switch (header[156]) {
            case '5' -> Files.createDirectories(path);
            case '2' -> {
                inside(path.resolveSibling(text(header, 157, 100)));
                Files.createDirectories(requireNonNull(path.getParent()));
                Files.createSymbolicLink(path, Path.of(text(header, 157, 100)));
            }
            case '0', 0 -> {
                Files.createDirectories(requireNonNull(path.getParent()));
                file(path, size);
                var executable = (octal(header, 100, 8) & 0100) != 0;
                Files.setPosixFilePermissions(
                        path, PosixFilePermissions.fromString(executable ? "rwxr-xr-x" : "rw-r--r--"));
            }
            default -> throw new IOException("entry " + name + " has the unknown type " + (char) header[156]);
        }
    }

    private void file(Path path, long size) throws IOException {
        try (var out = Files.newOutputStream(path)) {
            var left = size;
            var buffer = new byte[1 << 16];
            while (left > 0) {
                var count = in.read(buffer, 0, (int) Math.min(buffer.length, left));
                if (count < 0) {
                    throw new EOFException("archive ends within " + path.getFileName());
                }
                out.write(buffer, 0, count);
                left -= count;
            }
        }
        in.skipNBytes(padding(size));
    }

    private byte[] contents(long size) throws IOException {
        var bytes = in.readNBytes((int) size);
        in.skipNBytes(padding(size));
        return bytes;
    }

    private Path inside(Path path) throws IOException {
        if (!path.normalize().startsWith(target)) {
            throw new IOException("entry points outside the archive: " + path);
        }
        return path;
    }

    private static long padding(long size) {
        return (BLOCK - size % BLOCK) % BLOCK;
    }

    private static String name(byte[] header) {
        // Only POSIX archives have a prefix here. GNU archives keep times in the same place, and have a blank in the
        // magic.
        var prefix = header[262] == 0 ? text(header, 345, 155) : "";
        var name = text(header, 0, 100);
        return prefix.isEmpty() ? name : prefix + "/" + name;
    }

    private static String text(byte[] bytes, int from, int length) {
        var end = from;
        while (end < from + length && bytes[end] != 0) {
            end++;
        }
        return new String(bytes, from, end - from, UTF_8);
    }

    private static long octal(byte[] header, int from, int length) {
        var digits = text(header, from, length).strip();
        return digits.isEmpty() ? 0 : Long.parseLong(digits, 8);
    }
}
