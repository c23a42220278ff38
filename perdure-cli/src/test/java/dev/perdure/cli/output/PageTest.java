package dev.perdure.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PageTest {
    private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");

    private record Thing(String name, Optional<Long> size, Instant since, Map<String, String> limits) {}

    private static final Fields<Thing> THING = Fields.<Thing>of()
            .and("name", Thing::name)
            .and("size", thing -> thing.size().map(Bytes::new))
            .text("since", Thing::since)
            .json("since_at", Thing::since)
            .and("per_key", Thing::limits);

    private static final Thing SMALL = new Thing("a", Optional.of(10L), NOW.minusSeconds(180), Map.of("at_once", "2"));
    private static final Thing LARGE = new Thing("longer", Optional.of(3_670_016L), NOW.plusSeconds(7_200), Map.of());
    private static final Thing UNKNOWN = new Thing("b\nc", Optional.empty(), NOW, Map.of());

    private static List<String> text(Page page) {
        return page.lines(Optional.empty());
    }

    @Test
    void columns_are_as_wide_as_their_widest_value_and_numbers_are_on_the_right() {
        assertThat(text(new Page(NOW).many("things", THING, List.of(SMALL, LARGE, UNKNOWN), "None.")))
                .containsExactly(
                        "NAME      SIZE  SINCE      PER KEY",
                        "a         10 B  3 min ago  at once 2",
                        "longer  3.5 MB  in 2 h     -",
                        "b c          -  now        -");
    }

    @Test
    void json_has_the_same_values_unformatted_in_one_line() {
        assertThat(new Page(NOW)
                        .message("Two.")
                        .many("things", THING, List.of(SMALL, UNKNOWN), "None.")
                        .json())
                .isEqualTo("""
                        {"message":"Two.","things":[\
                        {"name":"a","size":10,"since_at":"2029-12-31T23:57:00Z","per_key":{"at_once":"2"}},\
                        {"name":"b\\nc","size":null,"since_at":"2030-01-01T00:00:00Z","per_key":{}}]}""");
    }

    @Test
    void an_empty_list_says_what_to_do_and_is_an_empty_array() {
        Page page = new Page(NOW).many("things", THING, List.of(), "None. Make one.");
        assertThat(text(page)).containsExactly("None. Make one.");
        assertThat(page.json()).isEqualTo("{\"things\":[]}");
    }

    @Test
    void one_thing_has_a_line_for_each_value_that_it_has_and_later_parts_have_titles() {
        assertThat(text(new Page(NOW)
                        .one("thing", THING, UNKNOWN)
                        .many("other_things", THING, List.of(SMALL), "None.")
                        .block("why", "first\nsecond")))
                .containsExactly(
                        "name   b c",
                        "since  2030-01-01T00:00:00Z (now)",
                        "",
                        "Other things",
                        "NAME  SIZE  SINCE      PER KEY",
                        "a     10 B  3 min ago  at once 2",
                        "",
                        "Why",
                        "first",
                        "second");
    }

    @Test
    void a_terminal_cuts_tables_and_only_those() {
        Page page = new Page(NOW)
                .many("things", THING, List.of(SMALL), "None.")
                .message("A sentence is longer than the terminal is wide.");
        assertThat(page.lines(Optional.of(new Terminal(12, 10))))
                .containsExactly("NAME  SIZE …", "a     10 B …", "A sentence is longer than the terminal is wide.");
    }

    @Test
    void no_text_can_control_the_terminal() {
        Thing thing = new Thing("a\033[2Jb\u009b31mc\u007fd", Optional.empty(), NOW, Map.of("k\033", "v\u0085"));
        Page page = new Page(NOW)
                .message("said\033]0;owned\007")
                .note("noted\u009d")
                .one("thing", THING, thing)
                .many("things", THING, List.of(thing), "None.")
                .lines("findings", List.of("found\033[31m"))
                .block("why", "first\033[31m\n\tat second\u0090");
        assertThat(String.join("\n", text(page)))
                .contains("said ]0;owned ", "a [2Jb 31mc d", "found [31m", "first [31m\n\tat second ")
                .doesNotContainPattern("[\\p{Cc}&&[^\n\t]]");
    }

    @Test
    void a_frame_replaces_what_a_terminal_shows_line_by_line_and_is_no_higher() {
        assertThat(new Terminal(20, 4).frame(List.of("a", "b"))).isEqualTo("\033[Ha\033[K\nb\033[K\n\033[J");
        assertThat(new Terminal(20, 4).frame(List.of("a", "b", "c", "d", "e")))
                .isEqualTo("\033[Ha\033[K\nb\033[K\n… 3 more lines\033[K\n\033[J");
    }

    @Test
    void times_and_durations_are_in_the_largest_unit_that_fits() {
        assertThat(List.of(0, 1, 59, 60, 3_599, 3_600, 172_799, 172_800, 8_640_000))
                .extracting(seconds -> Ages.age(NOW.minusSeconds(seconds), NOW))
                .containsExactly(
                        "now",
                        "1 s ago",
                        "59 s ago",
                        "1 min ago",
                        "59 min ago",
                        "1 h ago",
                        "47 h ago",
                        "2 days ago",
                        "100 days ago");
        assertThat(Ages.age(NOW.plusSeconds(90), NOW)).isEqualTo("in 1 min");
        assertThat(Ages.duration(Duration.ofMillis(12))).isEqualTo("12 ms");
        assertThat(Ages.duration(Duration.ofMillis(1_250))).isEqualTo("1.2 s");
        assertThat(Ages.duration(Duration.ofMinutes(3))).isEqualTo("3 min");
    }
}
