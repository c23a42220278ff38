package dev.perdure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.error.InvalidRequestException;
import org.junit.jupiter.api.Test;

final class AttributesTest {
    private static final StartOptions NONE = StartOptions.defaults();

    private static void refused(String name, String value, String message) {
        assertThatThrownBy(() -> NONE.attribute(name, value))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(message);
    }

    @Test
    void options_keep_attributes_in_the_order_of_their_names() {
        StartOptions options = StartOptions.id("o-1")
                .attribute("region", "us")
                .attribute("customer", "7")
                .attribute("region", "eu")
                .queue("slow")
                .priority(5);

        assertThat(options.attributes().toString()).isEqualTo("{customer=7, region=eu}");
        assertThat(ChildOptions.defaults().attribute("a", "1").start().attributes())
                .containsEntry("a", "1");
        assertThat(NONE.attributes()).isEmpty();
    }

    @Test
    @SuppressWarnings("DataFlowIssue")
    void a_name_or_a_value_that_cannot_be_stored_is_refused() {
        refused(null, "1", "The attribute name is null. Give it a non-empty text.");
        refused("", "1", "The attribute name is empty. Give it a non-empty text.");
        refused(
                "n".repeat(101),
                "1",
                "The attribute name '%s…' has 101 characters; at most 100 are allowed. Shorten it or use a hash of it."
                        .formatted("n".repeat(40)));
        refused("a", null, "The value of the attribute 'a' is null. Give it a non-empty text.");
        refused("a", "", "The value of the attribute 'a' is empty. Give it a non-empty text.");
        refused(
                "a",
                "x\0",
                "The value of the attribute 'a' holds the character U+0000 at index 1, which cannot be stored as text. Remove or encode it.");
        refused(
                "a",
                "v".repeat(501),
                "The value of the attribute 'a' '%s…' has 501 characters; at most 500 are allowed. Shorten it or use a hash of it."
                        .formatted("v".repeat(40)));
    }

    @Test
    void all_attributes_together_have_a_limit() {
        StartOptions full = NONE;
        for (int i = 0; i < 4; i++) {
            full = full.attribute("a" + i, "v".repeat(498));
        }
        StartOptions most = full;

        assertThatThrownBy(() -> most.attribute("b", "1"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "With the attribute 'b' the attributes of the run have 2002 bytes; at most 2000 are allowed. Put data that is not searched for into the input.");
        assertThat(most.attribute("a0", "ü".repeat(249)).attributes()).hasSize(4);
    }
}
