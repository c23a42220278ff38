package dev.perdure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.HistoryEvent.Kind;
import dev.perdure.HistoryEvent.Status;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HistoryEventTest {
    private static String text(Kind kind, String name, Status status, int attempt, String reason) {
        return new HistoryEvent(
                        kind,
                        name,
                        status,
                        1,
                        attempt,
                        Instant.EPOCH,
                        Optional.empty(),
                        Optional.of(reason).filter(why -> !why.isEmpty()))
                .text();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "RUN|SUSPENDED|ENTERED|run is SUSPENDED",
                "ANSWER|anna|RESOLVED|operator 'anna' resolved the awakeable",
                "ANSWER|anna|REJECTED|operator 'anna' rejected the awakeable",
                "SLEEP|PT1H|BEGUN|sleep of PT1H began",
                "SLEEP|PT1H|CANCELLED|sleep of PT1H ended, because the run was cancelled",
                "TIMER|PT1H|DEADLINE|timer of PT1H ended, because the deadline of the run passed",
                "NOW||VALUE|time read",
                "PATCH|faster|VALUE|patch 'faster' applies",
                "RECEIVE|paid|BEGUN|wait for message 'paid' began",
                "RECEIVE|paid|VALUE|message 'paid' received",
                "CHILD|ship|BEGUN|child 'ship' started",
                "CHILD|ship|FAILURE|child 'ship' failed",
                "PROMISE|approval|FAILURE|promise 'approval' rejected",
                "AWAKEABLE||BEGUN|awakeable created",
                "AWAKEABLE||VALUE|awakeable resolved",
                "EVENT|stock|VALUE|event 'stock' received",
                "CHOICE|any of 2|VALUE|choice 'any of 2' decided",
                "EFFECT|publish 'progress'|VALUE|publish 'progress'",
                "STATE|items|ABSENT|state 'items' read: it has no value",
                "STATE_NAMES||VALUE|names of all state read",
            })
    void an_event_says_in_plain_words_what_happened(Kind kind, String name, Status status, String text) {
        assertThat(text(kind, name == null ? "" : name, status, 0, "")).isEqualTo(text);
    }

    @Test
    void an_attempt_of_a_step_says_which_it_was_and_why_it_failed() {
        assertThat(text(Kind.STEP, "charge", Status.VALUE, 1, "")).isEqualTo("step 'charge' completed");
        assertThat(text(Kind.STEP, "charge", Status.VALUE, 3, "")).isEqualTo("step 'charge' completed at attempt 3");
        assertThat(text(Kind.STEP, "charge", Status.ATTEMPT, 2, "no route"))
                .isEqualTo("attempt 2 of step 'charge' failed: no route");
        assertThat(text(Kind.TRANSACTION, "book", Status.FAILURE, 10, "no route"))
                .isEqualTo("transaction 'book' failed at attempt 10 and is not tried again: no route");
    }

    @Test
    void every_kind_and_status_has_words() {
        for (Kind kind : Kind.values()) {
            for (Status status : Status.values()) {
                assertThat(text(kind, "x", status, 1, "")).isNotBlank().doesNotContain(status.name());
            }
        }
    }
}
