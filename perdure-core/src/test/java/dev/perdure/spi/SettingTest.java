package dev.perdure.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.spi.change.Setting;
import dev.perdure.spi.change.StartedFor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SettingTest {
    private static final Path PAGE = Path.of("..", "docs", "guides", "starts.md");

    private static String row(Setting setting) {
        String name = setting.name().toLowerCase(Locale.ROOT).replace('_', ' ');
        return Stream.concat(
                        Stream.of(name),
                        Arrays.stream(StartedFor.values())
                                .map(kind -> setting.of(kind).title()))
                .collect(Collectors.joining(" | ", "| ", " |"));
    }

    private static String table() {
        String names = Arrays.stream(StartedFor.values())
                .map(StartedFor::title)
                .collect(Collectors.joining(" | ", "| | ", " |"));
        String line = "|---".repeat(StartedFor.values().length + 1) + "|";
        return Stream.concat(
                        Stream.of(names, line), Arrays.stream(Setting.values()).map(SettingTest::row))
                .collect(Collectors.joining("\n", "\n", "\n"));
    }

    @Test
    void the_guide_shows_the_table() throws IOException {
        assertThat(Files.readString(PAGE)).contains(table());
    }
}
