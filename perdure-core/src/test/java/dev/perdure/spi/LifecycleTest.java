package dev.perdure.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.RunState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LifecycleTest {
    private static final Path PAGE = Path.of("..", "docs", "internals", "lifecycle.md");
    private static final Pattern DIAGRAM = Pattern.compile("```mermaid\\nstateDiagram-v2\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern ARROW = Pattern.compile("(?m)^ +(\\w+) --> (\\w+)$");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| ([A-Z_]+) \\| ([A-Z_]+) \\| \\S.* \\|$");

    private static Set<String> table() {
        return Stream.of(RunState.values())
                .flatMap(from -> Lifecycle.next(from).stream().map(to -> from + " > " + to))
                .collect(Collectors.toSet());
    }

    private static Set<String> edges(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .map((MatchResult edge) -> edge.group(1) + " > " + edge.group(2))
                .collect(Collectors.toSet());
    }

    @Test
    void the_diagram_has_the_edges_of_the_table_and_no_others() throws IOException {
        String diagram = DIAGRAM.matcher(Files.readString(PAGE))
                .results()
                .map(found -> found.group(1))
                .findFirst()
                .orElseThrow();
        assertThat(edges(ARROW, diagram)).isEqualTo(table());
        Set<String> terminal = Pattern.compile("(\\w+) --> \\[\\*]")
                .matcher(diagram)
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toSet());
        assertThat(terminal)
                .isEqualTo(Stream.of(RunState.values())
                        .filter(RunState::isTerminal)
                        .map(Enum::name)
                        .collect(Collectors.toSet()));
    }

    @Test
    void every_edge_says_who_makes_it() throws IOException {
        assertThat(edges(ROW, Files.readString(PAGE))).isEqualTo(table());
    }

    @ParameterizedTest
    @EnumSource
    void only_another_life_follows_a_terminal_state_and_every_other_can_end(RunState state) {
        if (state.isTerminal()) {
            assertThat(Lifecycle.next(state)).containsExactlyInAnyOrder(RunState.PENDING, RunState.READY);
        } else {
            assertThat(Lifecycle.next(state)).contains(RunState.CANCELLED);
        }
    }

    @Test
    void an_illegal_move_fails_loudly() {
        assertThat(Lifecycle.move(RunState.READY, RunState.RUNNING)).isEqualTo(RunState.RUNNING);
        assertThatThrownBy(() -> Lifecycle.move(RunState.COMPLETED, RunState.RUNNING))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("A run cannot go from COMPLETED to RUNNING.");
    }
}
