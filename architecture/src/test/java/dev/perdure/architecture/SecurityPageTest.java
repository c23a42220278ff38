package dev.perdure.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Each line of the threat model names its tests, and these exist. */
final class SecurityPageTest {
    private static final Path PAGE = Pom.ROOT.resolve("docs/operate/security.md");
    private static final Pattern NAMED = Pattern.compile("`(\\w+)\\.(\\w+)`");
    private static final Pattern SEPARATOR = Pattern.compile("\\|[-|]+");

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
        Map<String, TestSource> tests = TestSource.all();
        for (String row : rows()) {
            for (var named : NAMED.matcher(row).results().toList()) {
                TestSource test = tests.get(named.group(1));
                assertThat(test).as(named.group()).isNotNull();
                assertThat(test.cases())
                        .extracting(TestSource.Case::name)
                        .as(named.group())
                        .contains(named.group(2));
            }
        }
    }
}
