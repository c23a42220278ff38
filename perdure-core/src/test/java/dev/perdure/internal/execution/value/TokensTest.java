package dev.perdure.internal.execution.value;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.spi.shard.Partitions;
import java.util.List;
import org.junit.jupiter.api.Test;

class TokensTest {
    private final Tokens tokens = new Tokens(new byte[] {1, 2, 3}, false);

    private static Derived life(String run, long seed) {
        return new Derived(RunId.of(run), seed);
    }

    @Test
    void a_token_is_the_same_whenever_it_is_asked_for() {
        assertThat(life("a", 1).token(tokens, 1))
                .isEqualTo(life("a", 1).token(new Tokens(new byte[] {1, 2, 3}, false), 1))
                .startsWith("awk1_");
    }

    @Test
    void another_secret_run_life_or_position_gives_another_token() {
        assertThat(List.of(
                        life("a", 1).token(tokens, 1),
                        life("a", 1).token(new Tokens(new byte[] {1, 2, 4}, false), 1),
                        life("b", 1).token(tokens, 1),
                        life("a", 2).token(tokens, 1),
                        life("a", 1).token(tokens, 2)))
                .doesNotHaveDuplicates()
                .allMatch(Tokens::isOne);
    }

    @Test
    void a_token_of_a_store_with_several_parts_has_the_partition_of_its_run() {
        for (int i = 0; i < 50; i++) {
            String token = life("run-" + i, 1).tokenOfPart(tokens, 7);
            assertThat(token).startsWith("awk2_").matches(Tokens::isOne);
            assertThat(Partitions.ofTokenHash(Tokens.hash(token))).hasValue(Partitions.of(RunId.of("run-" + i)));
        }
        assertThat(Partitions.ofTokenHash(Tokens.hash(life("a", 1).token(tokens, 7))))
                .isEmpty();
        assertThat(life("a", 1).tokenOfPart(tokens, 7))
                .isNotEqualTo(life("a", 1).tokenOfPart(tokens, 8));
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
