package dev.perdure.cli.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.error.InvalidRequestException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How partitions are written. */
final class ShardsCommandTest {
    @Test
    void numbers_and_ranges_are_read() {
        assertThat(ShardsCommand.numbers("7")).containsExactly(7);
        assertThat(ShardsCommand.numbers("40,0-3,2")).containsExactly(0, 1, 2, 3, 40);
        assertThatThrownBy(() -> ShardsCommand.numbers("0-"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("'0-' are no partitions. Write numbers and ranges, such as 7 or 0-31,40.");
    }

    @Test
    void numbers_are_written_as_ranges() {
        assertThat(ShardsCommand.ranges(List.of())).isEmpty();
        assertThat(ShardsCommand.ranges(List.of(0, 1, 2, 7, 9, 10))).isEqualTo("0-2,7,9-10");
    }
}
