package dev.perdure.interceptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.RunId;
import dev.perdure.error.InvalidRequestException;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StartCallTest {
    private static final StartCall CALL =
            new StartCall(RunId.of("r"), "flow", "default", Optional.empty(), Map.of("tenant", "acme"));

    @Test
    void headers_are_added_replaced_and_removed_without_changing_the_call() {
        assertThat(CALL.with("b", "2").with("tenant", "other").headers())
                .containsExactly(Map.entry("b", "2"), Map.entry("tenant", "other"));
        assertThat(CALL.without("tenant").headers()).isEmpty();
        assertThat(CALL.headers()).containsExactly(Map.entry("tenant", "acme"));
    }

    @Test
    void a_header_that_cannot_be_stored_is_refused_with_the_rule() {
        refused(
                "",
                "x",
                "A header has the name ''. Give it one of 1 to 100 letters, digits, dots, underscores and hyphens.");
        refused("a b", "x", "A header has the name 'a b'. Give it one of 1 to 100 letters");
        refused("a".repeat(101), "x", "Give it one of 1 to 100 letters");
        refused("a", "\ud83d", "The header 'a' holds the character U+D83D at index 0, which cannot be stored as text.");
        refused("a", "x".repeat(1_001), "The header 'a' has 1001 characters; at most 1000 are allowed. Shorten it.");
        assertThat(CALL.with("Trace-Parent_1.b", "ü=".repeat(500)).headers()).hasSize(2);
    }

    @Test
    void all_headers_together_are_bounded() {
        StartCall full = CALL.without("tenant");
        for (String name : new String[] {"a", "b", "c"}) {
            full = full.with(name, "x".repeat(1_000));
        }
        StartCall almost = full;
        assertThat(almost.with("d", "x".repeat(988)).headers()).hasSize(4);
        assertThatThrownBy(() -> almost.with("d", "x".repeat(989)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "The headers have 4001 bytes; at most 4000 are allowed. Put what is larger into the input or the message.");
    }

    private static void refused(String name, String value, String message) {
        assertThatThrownBy(() -> CALL.with(name, value))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message);
    }
}
