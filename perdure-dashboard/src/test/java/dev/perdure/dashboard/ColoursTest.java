package dev.perdure.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The colours of the pages can be told apart, in light and in dark: WCAG 2.1, level AA. */
class ColoursTest {
    private static final double TEXT = 4.5;
    private static final double MARK = 3;
    private static final Pattern COLOUR =
            Pattern.compile("(--[a-z0-9-]+): light-dark\\(#([0-9a-f]{6}), #([0-9a-f]{6})\\)");
    private static final List<String> SURFACES = List.of("--bg", "--surface", "--sunken", "--hover", "--accent-weak");

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void words_and_marks_stand_out_from_every_surface(int scheme) {
        Map<String, Integer> colours = new TreeMap<>();
        COLOUR.matcher(WebFiles.text("tokens.css"))
                .results()
                .forEach(found -> colours.put(found.group(1), Integer.parseInt(found.group(scheme), 16)));

        List<String> states = colours.keySet().stream()
                .filter(name -> name.startsWith("--st-") && !name.endsWith("-fill") && !name.endsWith("-tint"))
                .toList();
        assertThat(states).hasSize(10);
        List<String> words = Stream.concat(
                        states.stream(), Stream.of("--text", "--text-2", "--text-3", "--accent", "--danger"))
                .toList();
        assertThat(words)
                .allSatisfy(word -> assertThat(SURFACES)
                        .allSatisfy(surface -> assertThat(contrast(colours.get(word), colours.get(surface)))
                                .as("%s on %s", word, surface)
                                .isGreaterThanOrEqualTo(TEXT)));
        assertThat(states)
                .allSatisfy(state -> assertThat(contrast(colours.get(state + "-fill"), colours.get("--surface")))
                        .as("bar %s", state)
                        .isGreaterThanOrEqualTo(MARK));
        assertThat(states)
                .allSatisfy(state -> assertThat(contrast(colours.get(state), colours.get(state + "-tint")))
                        .as("badge %s", state)
                        .isGreaterThanOrEqualTo(TEXT));
    }

    private static double contrast(int one, int other) {
        double first = luminance(one);
        double second = luminance(other);
        return (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05);
    }

    private static double luminance(int colour) {
        return 0.2126 * linear((colour >> 16) & 0xff)
                + 0.7152 * linear((colour >> 8) & 0xff)
                + 0.0722 * linear(colour & 0xff);
    }

    private static double linear(int channel) {
        double share = channel / 255.0;
        return share <= 0.04045 ? share / 12.92 : Math.pow((share + 0.055) / 1.055, 2.4);
    }
}
