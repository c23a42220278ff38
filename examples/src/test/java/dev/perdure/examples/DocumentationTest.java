package dev.perdure.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Checks that every Java or Kotlin block of the documentation is code that a test runs. The line before the block names a file
 * and a region of it, {@code <!-- from examples/…/Orders.java#workflow -->}, and the block must equal that region, or
 * the whole file if no region is named. A block that cannot be run has {@code <!-- sketch: why -->} instead.
 */
class DocumentationTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern SOURCE = Pattern.compile("<!-- from ([^\\s#]+)(?:#(\\S+))? -->");
    private static final Pattern SKETCH = Pattern.compile("<!-- sketch: .+ -->");

    private static final List<String> LANGUAGES = List.of("```java", "```kotlin");

    private record Block(String place, String marker, List<String> lines) {}

    private static List<Path> documents() throws IOException {
        try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            return Stream.concat(Stream.of(ROOT.resolve("README.md")), docs.sorted())
                    .filter(path -> path.toString().endsWith(".md"))
                    .toList();
        }
    }

    private static List<Block> blocks(Path document) throws IOException {
        List<String> lines = Files.readAllLines(document);
        List<Block> blocks = new ArrayList<>();
        for (int start = 0; start < lines.size(); start++) {
            if (LANGUAGES.contains(lines.get(start).strip())) {
                int end = start + 1;
                while (!lines.get(end).strip().equals("```")) {
                    end++;
                }
                blocks.add(new Block(
                        ROOT.relativize(document) + ":" + (start + 1),
                        start == 0 ? "" : lines.get(start - 1).strip(),
                        lines.subList(start + 1, end)));
                start = end;
            }
        }
        return blocks;
    }

    /** The lines between {@code // region name} and the next {@code // endregion}, without their common indent. */
    private static List<String> region(Path file, String name) throws IOException {
        List<String> lines = Files.readAllLines(file);
        int start = lines.stream().map(String::strip).toList().indexOf("// region " + name);
        assertThat(start).as("%s has no region '%s'", file, name).isNotNegative();
        List<String> rest = lines.subList(start + 1, lines.size());
        int end = rest.stream().map(String::strip).toList().indexOf("// endregion");
        assertThat(end).as("region '%s' of %s has no end", name, file).isNotNegative();
        return String.join("\n", rest.subList(0, end)).stripIndent().lines().toList();
    }

    @TestFactory
    Stream<DynamicTest> every_block_of_code_is_a_region_of_a_tested_example() throws IOException {
        List<Block> blocks = new ArrayList<>();
        for (Path document : documents()) {
            blocks.addAll(blocks(document));
        }
        assertThat(blocks).isNotEmpty();
        return blocks.stream().map(block -> DynamicTest.dynamicTest(block.place(), () -> check(block)));
    }

    private static void check(Block block) throws IOException {
        if (SKETCH.matcher(block.marker()).matches()) {
            return;
        }
        Matcher source = SOURCE.matcher(block.marker());
        assertThat(source.matches())
                .as(
                        "the line before the block at %s is '%s', not <!-- from file#region -->",
                        block.place(), block.marker())
                .isTrue();
        Path file = ROOT.resolve(source.group(1));
        List<String> expected = source.group(2) == null ? Files.readAllLines(file) : region(file, source.group(2));
        assertThat(block.lines()).as(block.place()).isEqualTo(expected);
    }

    @Test
    void every_relative_link_leads_somewhere() throws IOException {
        Pattern link = Pattern.compile("\\]\\(([^)#\\s]+)(#[^)]*)?\\)");
        List<String> dead = new ArrayList<>();
        for (Path document : documents()) {
            Matcher links = link.matcher(Files.readString(document));
            while (links.find()) {
                String target = links.group(1);
                Path file = document.resolveSibling(target).normalize();
                if (!target.contains("://") && !Files.exists(file)) {
                    dead.add(ROOT.relativize(document) + " -> " + target);
                }
            }
        }
        assertThat(dead).isEmpty();
    }
}
