package dev.perdure.dashboard;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The files of the pages, as they are in the sources. */
final class WebFiles {
    static final Path FOLDER = Path.of("src/main/resources/dev/perdure/dashboard/web");

    private WebFiles() {}

    /** The files that browsers load, by their paths in the folder. */
    static List<String> served() {
        return all().stream()
                .filter(name -> Assets.isFile(name) || name.equals(Assets.INDEX))
                .toList();
    }

    /** Those of them that are ours. */
    static List<String> own() {
        return served().stream().filter(name -> !name.startsWith("vendor/")).toList();
    }

    /** All files, by their paths in the folder. */
    static List<String> all() {
        try (Stream<Path> files = Files.walk(FOLDER)) {
            return files.filter(Files::isRegularFile)
                    .map(file -> FOLDER.relativize(file).toString().replace('\\', '/'))
                    .sorted()
                    .toList();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    static byte[] bytes(String name) {
        try {
            return Files.readAllBytes(FOLDER.resolve(name));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    static String text(String name) {
        try {
            return Files.readString(FOLDER.resolve(name));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
