package dev.perdure.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each line of the threat model names its tests, and these exist. */
final class SecurityPageTest {
    private static final Path PAGE = Pom.ROOT.resolve("docs/operate/security.md");
    private static final Pattern NAMED = Pattern.compile("`(\\w+)\\.(\\w+)`");
    private static final Pattern SEPARATOR = Pattern.compile("\\|[-|]+");

    /** The sources of all tests by the names of their classes. */
    private static Map<String, Path> tests() throws IOException {
        try (Stream<Path> files = Files.walk(Pom.ROOT)) {
            return files.filter(file -> file.toString().contains("/src/test/java/"))
                    .filter(file -> file.toString().endsWith(".java"))
                    .collect(Collectors.toMap(
                            file -> file.getFileName().toString().replace(".java", ""),
                            file -> file,
                            (one, other) -> one));
        }
    }

    private static List<String> rows() throws IOException {
        List<String> lines = Files.readAllLines(PAGE);
        return lines.stream()
                .filter(line -> line.startsWith("|"))
                .filter(line -> !SEPARATOR.matcher(line).matches() && !line.startsWith("| With |"))
                .toList();
    }

    @Test
    void every_line_names_a_test() throws IOException {
        assertThat(rows()).hasSizeGreaterThan(25).allSatisfy(row -> {
            String last = row.substring(row.lastIndexOf("|", row.length() - 2));
            assertThat(NAMED.matcher(last).find()).as(row).isTrue();
        });
    }

    @Test
    void every_named_test_exists() throws IOException {
        Map<String, Path> tests = tests();
        for (String row : rows()) {
            for (var named : NAMED.matcher(row).results().toList()) {
                Path file = tests.get(named.group(1));
                assertThat(file).as(named.group()).isNotNull();
                assertThat(Files.readString(file)).as(named.group()).contains("void " + named.group(2) + "(");
            }
        }
    }
}
