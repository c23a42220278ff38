package dev.perdure.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.architecture.Promises.Group;
import dev.perdure.architecture.Promises.Promise;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Nothing that is promised falls out of the tests, or out of every build, without a reason in the list of promises. */
final class PromisesTest {
    private static final Path LIST = Pom.ROOT.resolve("architecture/promises.txt");
    private static final String NAME = "scenario TimerScenarios.a_sleep_ends";

    @Test
    void the_list_of_promises_is_what_the_sources_have() throws IOException {
        SortedMap<String, Group> made = Promises.made();
        SortedMap<String, Promise> listed = Promises.listed(Files.exists(LIST) ? Files.readString(LIST) : "");
        if (System.getProperty("promises", "").equals("write")) {
            Files.writeString(LIST, Promises.written(listed, made));
            listed = Promises.listed(Files.readString(LIST));
        }
        assertThat(Promises.differences(listed, made))
                .as(
                        "Of architecture/promises.txt, which './mvnw test -pl architecture -Dtest=PromisesTest -Dpromises=write' writes anew")
                .isEmpty();
    }

    @Test
    void every_kind_of_promise_is_found() {
        assertThat(Promises.made().keySet().stream()
                        .map(name -> name.substring(0, name.indexOf(' ')))
                        .distinct())
                .containsExactlyInAnyOrder(
                        "conformance",
                        "scenario",
                        "on_postgres",
                        "simulated_defect",
                        "planted_defect",
                        "guarantee",
                        "security");
    }

    @Test
    void what_disappears_or_becomes_rarer_needs_a_reason() {
        SortedMap<String, Promise> listed = Promises.listed("build scenario TimerScenarios.a_sleep_ends\n");
        assertThat(Promises.differences(listed, sources(Map.of())))
                .singleElement()
                .asString()
                .contains(NAME, "'gone'");
        assertThat(Promises.differences(listed, sources(Map.of(NAME, Group.THOROUGH))))
                .singleElement()
                .asString()
                .contains(NAME, "no longer checked in every build");
        assertThat(Promises.differences(listed, sources(Map.of(NAME, Group.BUILD))))
                .isEmpty();
    }

    @Test
    void a_reason_lets_it_go() {
        SortedMap<String, Group> none = sources(Map.of());
        assertThat(Promises.differences(Promises.listed("gone " + NAME + " because another one shows it"), none))
                .isEmpty();
        assertThat(Promises.differences(Promises.listed("gone " + NAME), none))
                .singleElement()
                .asString()
                .contains("has no reason");
        SortedMap<String, Group> rare = sources(Map.of(NAME, Group.THOROUGH));
        assertThat(Promises.differences(Promises.listed("thorough " + NAME + " because it takes a minute"), rare))
                .isEmpty();
        assertThat(Promises.differences(Promises.listed("thorough " + NAME), rare))
                .singleElement()
                .asString()
                .contains("has no reason");
    }

    @Test
    void writing_the_list_anew_adds_what_is_new_and_hides_nothing() {
        SortedMap<String, Promise> listed = Promises.listed("build " + NAME);
        SortedMap<String, Group> made = sources(Map.of("guarantee 1", Group.BUILD));
        assertThat(Promises.differences(Promises.listed(Promises.written(listed, made)), made))
                .singleElement()
                .asString()
                .contains(NAME, "no longer shown");
        assertThat(Promises.listed(Promises.written(listed, made))).containsKey("guarantee 1");
    }

    @Test
    void a_line_that_is_none_is_refused() {
        assertThatThrownBy(() -> Promises.listed("sometimes scenario X.y"))
                .hasMessageContaining("sometimes scenario X.y");
    }

    private static SortedMap<String, Group> sources(Map<String, Group> made) {
        return new TreeMap<>(made);
    }
}
