package dev.perdure.architecture;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/** What {@code security/vulnerabilities.txt} lists. */
final class Vulnerabilities {
    private static final Pattern NUMBERS = Pattern.compile("\\D+");

    private Vulnerabilities() {}

    /**
     * Versions of a library with a known vulnerability.
     *
     * @param library group and artifact; {@code *} stands for all artifacts of the group
     * @param from the first version affected
     * @param fixed the first version after it that is not affected
     * @param id of the advisory
     * @param text what it is, or why we accept it
     */
    record Vulnerability(String library, String from, String fixed, String id, String text) {
        static Vulnerability of(String line) {
            String[] columns = line.strip().split("\\s+", 5);
            if (columns.length < 5) {
                throw new IllegalArgumentException("Not a line with five columns: " + line);
            }
            return new Vulnerability(columns[0], columns[1], columns[2], columns[3], columns[4]);
        }

        boolean affects(String group, String artifact, String version) {
            return (library.equals(group + ":" + artifact) || library.equals(group + ":*"))
                    && compare(from, version) <= 0
                    && compare(version, fixed) < 0
                    && !text.startsWith("accepted:");
        }
    }

    /** Those of a version of a library. */
    static List<Vulnerability> of(String group, String artifact, String version) throws IOException {
        return Files.readAllLines(Pom.ROOT.resolve("security/vulnerabilities.txt")).stream()
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .map(Vulnerability::of)
                .filter(vulnerability -> vulnerability.affects(group, artifact, version))
                .toList();
    }

    /** By the numbers of the versions; words such as Final make no difference. */
    private static int compare(String one, String other) {
        return Arrays.compare(numbers(one), numbers(other));
    }

    private static int[] numbers(String version) {
        int[] numbers = NUMBERS.splitAsStream(version)
                .filter(part -> !part.isEmpty())
                .mapToInt(Integer::parseInt)
                .toArray();
        int length = numbers.length;
        while (length > 0 && numbers[length - 1] == 0) {
            length--;
        }
        return Arrays.copyOf(numbers, length);
    }
}
