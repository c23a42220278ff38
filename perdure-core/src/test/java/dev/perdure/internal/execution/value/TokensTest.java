package dev.perdure.internal.execution.value;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import java.util.List;
import org.junit.jupiter.api.Test;

class TokensTest {
    private final Tokens tokens = new Tokens(new byte[] {1, 2, 3});

    private static Derived life(String run, long seed) {
        return new Derived(RunId.of(run), seed);
    }

    @Test
    void a_token_is_the_same_whenever_it_is_asked_for() {
        assertThat(life("a", 1).token(tokens, 1))
                .isEqualTo(life("a", 1).token(new Tokens(new byte[] {1, 2, 3}), 1))
                .startsWith("awk1_");
    }

    @Test
    void another_secret_run_life_or_position_gives_another_token() {
        assertThat(List.of(
                        life("a", 1).token(tokens, 1),
                        life("a", 1).token(new Tokens(new byte[] {1, 2, 4}), 1),
                        life("b", 1).token(tokens, 1),
                        life("a", 2).token(tokens, 1),
                        life("a", 1).token(tokens, 2)))
                .doesNotHaveDuplicates()
                .allMatch(Tokens::isOne);
    }

    @Test
    void what_is_no_token_is_told() {
        String token = life("a", 1).token(tokens, 1);
        assertThat(List.of("", "awk1_", token + "x", token.substring(1), token.replace("awk1_", "awk2_"), token + "\n"))
                .noneMatch(Tokens::isOne);
        assertThat(Tokens.isOne(null)).isFalse();
        assertThat(Tokens.isOne("awk_" + "A".repeat(32))).isTrue();
    }
}
