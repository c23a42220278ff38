package dev.perdure.testing.scenarios;

import static dev.perdure.testing.scenarios.Log.log;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.error.PayloadException;
import dev.perdure.error.RunFailedException;
import dev.perdure.object.StateKey;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The state of virtual objects. */
abstract class ObjectStateScenarios extends Scenarios {
    @ParameterizedTest
    @EnumSource
    void state_set_before_a_failure_stays_and_the_key_is_free(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Log());
            assertThatThrownBy(() -> log(perdure, "a").call(Log::failing, "this"))
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining("broken after this");
            assertThat(log(perdure, "a").call(Log::note)).hasValue("this");
            assertThat(log(perdure, "a").call(Log::append, "next")).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void state_is_cleared_listed_and_survives_a_restart(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Log());
            log(perdure, "a").call(Log::append, "x");
            log(perdure, "a").edit(state -> state.set(Log.NOTE, "by hand"));
            perdure.restart();
            assertThat(log(perdure, "a").call(Log::note)).hasValue("by hand");
            log(perdure, "a").call(Log::forget);
            assertThat(log(perdure, "a").state().keys()).containsExactly("lines");
            assertThat(log(perdure, "a").call(Log::forgetAll)).containsExactly("lines");
            assertThat(log(perdure, "a").state().keys()).containsExactly("note");
            assertThat(log(perdure, "a").state().get(Log.NOTE)).hasValue("after [lines] came []");
            assertThat(log(perdure, "never called").state().keys()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_edit_has_its_turn_like_any_other_call(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Log());
            Run<String> sleeping = log(perdure, "a").send(Log::sleepy, StartOptions.defaults());
            perdure.settle();
            log(perdure, "a").edit(state -> state.clearAll().set(Log.LINES, List.of("edited")));
            assertThat(sleeping.state()).isEqualTo(RunState.COMPLETED);
            assertThat(log(perdure, "a").state().keys()).containsExactly("lines");
            assertThat(log(perdure, "a").call(Log::append, "x")).isEqualTo(2);
        }
    }

    @Test
    void state_that_is_asked_for_with_another_type_is_named() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            perdure.register(new Log());
            log(perdure, "a").edit(state -> state.set(Log.NOTE, "by hand"));
            StateKey<Integer> wrong = StateKey.of(Log.NOTE.name(), Integer.class);
            assertThatThrownBy(() -> log(perdure, "a").state().get(wrong))
                    .isInstanceOf(PayloadException.class)
                    .hasMessageStartingWith("State 'note' of object 'list/a' cannot be read.")
                    .hasMessageContaining("java.lang.Integer")
                    .hasMessageEndingWith(". Ask for it with the type that it was written with.");
        }
    }
}
