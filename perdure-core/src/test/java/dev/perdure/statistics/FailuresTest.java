package dev.perdure.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.error.RecordedException;
import dev.perdure.error.StepFailedException;
import dev.perdure.statistics.Failures.Group;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FailuresTest {
    private static final Instant BEGINNING = Instant.parse("2026-01-01T00:00:00Z");

    private static RunInfo failed(int number, String reason) {
        return RunInfo.of(
                RunId.of("run-" + number), RunState.FAILED, Optional.of(reason), BEGINNING.plusSeconds(number));
    }

    private static Group only(String reason) {
        return Failures.of(List.of(failed(1, reason)), false).groups().getFirst();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "java.io.IOException: refused by 10.0.0.7:8080 | java.io.IOException | refused by #:#",
                "java.io.IOException: no order 4711. Try again. | java.io.IOException | no order #. Try again.",
                "shop.Orders$Late: o-17 took 12.5 s | shop.Orders$Late | # took # s",
                "java.lang.Error: id=3f2c-9a user=anna | java.lang.Error | id=# user=anna",
                "java.lang.Error | java.lang.Error | ''",
                "The deadline has passed. | '' | The deadline has passed.",
                "a.StepFailed: Step 'x' failed after 3 attempts: java.io.IOException: no 7 | java.io.IOException | Step 'x' failed after # attempts: java.io.IOException: no #",
                "12 of 20 tasks failed: x | '' | # of # tasks failed: x",
            })
    void a_reason_has_a_type_and_a_message_without_numbers_and_ids(String reason, String type, String message) {
        assertThat(only(reason).type()).isEqualTo(type);
        assertThat(only(reason).message()).isEqualTo(message);
    }

    @Test
    void a_group_names_the_step_that_failed() {
        StepFailedException failed = new StepFailedException(
                "charge 2",
                3,
                new RecordedException("java.io.IOException", "no route", new StackTraceElement[0], null));
        assertThat(only(failed.toString()).step()).contains("charge 2");
        assertThat(only("java.lang.Error: no step").step()).isEmpty();
        assertThat(only("The deadline has passed.").step()).isEmpty();
    }

    @Test
    void runs_with_the_same_reason_are_one_group() {
        List<RunInfo> runs = List.of(
                failed(4, "java.lang.Error: order 4 is gone"),
                failed(3, "java.lang.Error: other"),
                failed(2, "java.lang.Error: order 2 is gone\n\tat shop.Orders.find(Orders.java:17)"));

        Failures failures = Failures.of(runs, true);
        assertThat(failures.looked()).isEqualTo(3);
        assertThat(failures.more()).isTrue();
        assertThat(failures.groups())
                .containsExactly(
                        new Group(
                                "java.lang.Error",
                                "order # is gone",
                                2,
                                BEGINNING.plusSeconds(2),
                                BEGINNING.plusSeconds(4),
                                RunId.of("run-4"),
                                "java.lang.Error: order 4 is gone"),
                        new Group(
                                "java.lang.Error",
                                "other",
                                1,
                                BEGINNING.plusSeconds(3),
                                BEGINNING.plusSeconds(3),
                                RunId.of("run-3"),
                                "java.lang.Error: other"));
    }

    @Test
    void long_reasons_take_no_longer_than_their_length() {
        String word = "a".repeat(100_000);
        List<RunInfo> runs =
                IntStream.range(0, 500).mapToObj(i -> failed(i, word + i)).toList();
        assertThat(Failures.of(runs, false).groups()).hasSize(1);
        assertThat(Failures.of(List.of(), false).groups()).isEmpty();
    }
}
