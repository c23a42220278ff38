package dev.perdure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.attribute.Attribute;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.attribute.Description;
import dev.perdure.error.InvalidRequestException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class AttributesTest {
    private static final StartOptions NONE = StartOptions.defaults();
    private static final Attribute<String> TEXT = Attribute.text("a");
    private static final Attribute<Number> NUMBER = Attribute.number("n");
    private static final Attribute<Instant> TIME = Attribute.time("t");
    private static final Attribute<List<String>> WORDS = Attribute.keywords("k");

    private interface Call {
        void make();
    }

    private static void refused(Call call, String message) {
        assertThatThrownBy(call::make)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(message);
    }

    @Test
    void options_keep_attributes_in_the_order_of_their_names_and_a_memo() {
        Attribute<String> region = Attribute.text("region");
        StartOptions options = StartOptions.id("o-1")
                .attribute(region, "us")
                .attribute(NUMBER, 7)
                .attribute(region, "eu")
                .memo("by phone")
                .queue("slow");

        assertThat(options.description().attributes().keySet()).containsExactly("n", "region");
        assertThat(options.description().get(region)).contains("eu");
        assertThat(options.description().get(NUMBER)).contains(new BigDecimal("7"));
        assertThat(options.description().get(TEXT)).isEmpty();
        assertThat(options.description().memo()).contains("by phone");
        assertThat(ChildOptions.defaults()
                        .attribute(TEXT, "1")
                        .memo("m")
                        .start()
                        .description())
                .isEqualTo(NONE.attribute(TEXT, "1").memo("m").description());
        assertThat(NONE.description()).isEqualTo(Description.NONE);
    }

    @Test
    @SuppressWarnings("DataFlowIssue")
    void a_name_or_a_value_that_cannot_be_stored_is_refused() {
        refused(() -> Attribute.text(null), "The attribute name is null. Give it a non-empty text.");
        refused(() -> Attribute.flag(""), "The attribute name is empty. Give it a non-empty text.");
        refused(
                () -> Attribute.text("n".repeat(101)),
                "The attribute name '%s…' has 101 characters; at most 100 are allowed. Shorten it or use a hash of it."
                        .formatted("n".repeat(40)));
        refused(() -> NONE.attribute(TEXT, ""), "The value of the attribute 'a' is empty. Give it a non-empty text.");
        refused(
                () -> NONE.attribute(TEXT, "x\0"),
                "The value of the attribute 'a' holds the character U+0000 at index 1, which cannot be stored as text. Remove or encode it.");
        refused(
                () -> NONE.attribute(TEXT, "v".repeat(501)),
                "The value of the attribute 'a' '%s…' has 501 characters; at most 500 are allowed. Shorten it or use a hash of it."
                        .formatted("v".repeat(40)));
        refused(
                () -> NONE.attribute(NUMBER, Double.NaN),
                "The value of the attribute 'n' is NaN of the type Double, which is no decimal number. Give an integer, a finite double or a BigDecimal.");
        refused(
                () -> NONE.attribute(NUMBER, new BigDecimal("1E+30")),
                "The value of the attribute 'n' is 1E+30; it has at most 30 digits before the point and 30 after it. Round it, or use a text.");
        refused(
                () -> NONE.attribute(NUMBER, new BigDecimal("1E-31")),
                "The value of the attribute 'n' is 1E-31; it has at most 30 digits before the point and 30 after it. Round it, or use a text.");
        refused(
                () -> NONE.attribute(TIME, Instant.MAX),
                "The value of the attribute 't' is +1000000000-12-31T23:59:59.999999Z; it is in the years 1 to 9999. Leave the attribute out for a time that never comes.");
        refused(
                () -> NONE.attribute(WORDS, List.of()),
                "The attribute 'k' has no keywords. Give at least one, or leave the attribute out; a workflow removes it with null.");
        refused(
                () -> NONE.attribute(WORDS, List.of("a", "")),
                "The keyword of the attribute 'k' is empty. Give it a non-empty text.");
        refused(
                () -> NONE.memo("m".repeat(4_001)),
                "The memo has 4001 characters; at most 4000 are allowed. Shorten it.");
        refused(
                () -> NONE.memo("\0"),
                "The memo holds the character U+0000, which cannot be stored as text. Remove it.");
    }

    @Test
    void all_attributes_together_have_a_limit() {
        StartOptions full = NONE;
        for (int i = 0; i < 4; i++) {
            full = full.attribute(Attribute.text("a" + i), "v".repeat(498));
        }
        StartOptions most = full;

        refused(
                () -> most.attribute(Attribute.text("b"), "1"),
                "With the attribute 'b' the attributes of the run have 2002 bytes; at most 2000 are allowed. Put data that is not searched for into the memo.");
        assertThat(most.attribute(Attribute.text("a0"), "ü".repeat(249))
                        .description()
                        .attributes())
                .hasSize(4);
    }

    @Test
    void numbers_are_equal_whatever_their_type_and_scale() {
        AttributeValue two = NUMBER.value(2);
        assertThat(Stream.of(2L, (short) 2, (byte) 2, 2.0, 2.0f, BigInteger.TWO, new BigDecimal("2.00"))
                        .map(NUMBER::value))
                .containsOnly(two);
        assertThat(NUMBER.value(new BigDecimal("0.000"))).isEqualTo(NUMBER.value(0));
        assertThat(NUMBER.value(0.1).texts()).containsExactly("0.1");
    }

    @Test
    void a_value_can_be_written_and_read_as_one_text() {
        for (AttributeValue value : List.of(
                TEXT.value("number:1"),
                NUMBER.value(-12.5),
                Attribute.flag("f").value(true),
                TIME.value(Instant.parse("2026-01-31T12:00:00.000001999Z")),
                WORDS.value(List.of("b", "a", "b")))) {
            assertThat(AttributeValue.decoded(value.encoded())).isEqualTo(value);
        }
        refused(
                () -> AttributeValue.decoded("time:tomorrow"),
                "The value 'tomorrow' of an attribute cannot be read. Give numbers as decimals, and times as 2026-01-31T12:00:00Z.");
    }

    @Test
    void a_value_of_a_newer_version_is_neither_read_nor_stored() {
        AttributeValue unreadable = new AttributeValue.Unreadable("money:12 EUR");
        refused(
                () -> NUMBER.read(unreadable),
                "The attribute 'n' of the run has a value that this version of Perdure cannot read. Read it with the version that wrote it.");
        refused(
                () -> unreadable.require("n"),
                "The value of the attribute 'n' is one that this version of Perdure cannot read, so it cannot be stored. Use the version that wrote it.");
        refused(
                () -> AttributeValue.decoded("unreadable:12"),
                "The value '12' of an attribute cannot be read. Give numbers as decimals, and times as 2026-01-31T12:00:00Z.");
    }

    @Test
    void a_condition_that_cannot_hold_is_refused() {
        refused(() -> TEXT.atLeast("b"), "The attribute 'a' is a text; only numbers and times have ranges. Use is(…).");
        refused(() -> TEXT.contains("b"), "The attribute 'a' is no list of keywords, so it contains none. Use is(…).");
        refused(
                () -> WORDS.is(List.of("b")),
                "The attribute 'k' is a list of keywords. Use contains(…), once for each word.");
    }

    @Test
    void a_condition_holds_only_for_values_of_its_type() {
        Map<String, AttributeValue> run = Map.of("n", new AttributeValue.Text("5"), "t", TIME.value(Instant.EPOCH));
        assertThat(NUMBER.is(5).holds(run)).isFalse();
        assertThat(NUMBER.atLeast(0).holds(run)).isFalse();
        assertThat(NUMBER.below(9).holds(run)).isFalse();
        assertThat(TIME.atLeast(Instant.EPOCH).holds(run)).isTrue();
        assertThat(TIME.below(Instant.EPOCH).holds(run)).isFalse();
        refused(
                () -> new Description(run, java.util.Optional.empty(), java.util.Optional.empty()).get(NUMBER),
                "The attribute 'n' of the run is a text, and is read as a number. Declare it with the type that it was set with.");
    }
}
