package dev.perdure.internal.execution.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.spi.Journals.Page;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Entry.Kind;
import dev.perdure.spi.change.Entry.Status;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Recorded;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ReplayTest {
    private static Recorded entry(int position, int note, Kind kind, String name) {
        Status status = note == Entry.ANSWER ? Status.VALUE : Status.ATTEMPT;
        return new Recorded(new Entry(position, note, kind, name, status, Payload.EMPTY), Instant.EPOCH);
    }

    private static Recorded step(int position, String name) {
        return entry(position, Entry.ANSWER, Kind.STEP, name);
    }

    private static Recorded patch(int position, String id) {
        return entry(position, Entry.ANSWER, Kind.PATCH, id);
    }

    private static Replay replay(Recorded... journal) {
        return new Replay(new Replay.Origin("order-7", null, true), new Page(List.of(journal), true), after -> {
            throw new AssertionError("There is no further page.");
        });
    }

    private static void assertMismatch(ThrowingCallable code, int position, String recorded, String asked) {
        assertThatThrownBy(code)
                .isInstanceOf(Replay.Mismatch.class)
                .hasMessage(
                        "The code does not fit the journal of run 'order-7' at position %d: recorded is %s, the code"
                                + " asked for %s. Nothing was applied. Bring back the code that fits, or guard the change"
                                + " with ctx.patched(…), then resume the run.",
                        position, recorded, asked);
    }

    @Test
    void a_call_gets_what_is_recorded_at_its_position() {
        Recorded charged = step(1, "charge");
        Recorded failed = entry(2, 1, Kind.STEP, "ship");
        Recorded failedAgain = entry(2, 2, Kind.STEP, "ship");
        Replay replay = replay(charged, failed, failedAgain);
        assertThat(replay.replaying()).isTrue();

        ContextCall charge = replay.take(Kind.STEP, "charge");
        assertThat(charge).isEqualTo(new ContextCall(1, Kind.STEP, "charge"));
        assertThat(replay.past(charge).answer()).contains(charged);
        assertThat(replay.past(charge).notes()).isEmpty();
        assertThat(replay.replaying()).isTrue();

        ContextCall ship = replay.take(Kind.STEP, "ship");
        assertThat(replay.past(ship).answer()).isEmpty();
        assertThat(replay.past(ship).notes()).containsExactly(failed, failedAgain);
        assertThat(replay.replaying()).isFalse();

        ContextCall next = replay.take(Kind.NOW, "");
        assertThat(next.position()).isEqualTo(3);
        assertThat(replay.past(next).answer()).isEmpty();
        assertThat(replay.past(next).notes()).isEmpty();
        replay.finish("the end");
    }

    @Test
    void an_answer_comes_before_the_notes_of_its_call() {
        Recorded answer = step(1, "charge");
        Recorded failed = entry(1, 1, Kind.STEP, "charge");
        Replay replay = replay(answer, failed);
        Replay.Past past = replay.past(replay.take(Kind.STEP, "charge"));
        assertThat(past.answer()).contains(answer);
        assertThat(past.notes()).containsExactly(failed);
    }

    @Test
    void another_kind_or_another_name_is_found_out() {
        assertMismatch(() -> replay(step(1, "charge")).take(Kind.STEP, "ship"), 1, "step 'charge'", "step 'ship'");
        assertMismatch(() -> replay(step(1, "charge")).take(Kind.NOW, "charge"), 1, "step 'charge'", "now()");
        // A note tells it, too.
        assertMismatch(
                () -> replay(entry(1, 1, Kind.SLEEP, "PT1S")).take(Kind.SLEEP, "PT2S"),
                1,
                "sleep of PT1S",
                "sleep of PT2S");
    }

    @Test
    void a_call_where_nothing_is_recorded_must_not_come_before_recorded_ones_unless_it_is_a_future() {
        assertMismatch(
                () -> replay(step(2, "charge")).take(Kind.STEP, "new"),
                1,
                "nothing, and later, at position 2, step 'charge'",
                "step 'new'");
        Replay replay = replay(step(2, "charge"));
        ContextCall future = replay.take(Kind.RECEIVE, "paid", true);
        assertThat(future.position()).isEqualTo(1);
        assertThat(replay.past(future).answer()).isEmpty();
        assertThat(replay.past(replay.take(Kind.STEP, "charge")).answer()).isPresent();
        // What the code has passed is kept until it takes the next position.
        assertThat(replay.take(Kind.STEP, "after").position()).isEqualTo(3);
    }

    @Test
    void patches_that_the_code_no_longer_asks_about_are_passed_over() {
        Replay replay = replay(patch(1, "a"), patch(2, "b"), step(3, "charge"), patch(4, "c"));
        assertThat(replay.nextIsPatch("a")).isTrue();
        assertThat(replay.nextIsPatch("b")).isFalse();
        assertThat(replay.take(Kind.PATCH, "a").position()).isEqualTo(1);
        assertThat(replay.take(Kind.STEP, "charge").position()).isEqualTo(3);
        assertThat(replay.nextIsPatch("c")).isTrue();
        replay.finish("the end");
        assertThat(replay.nextIsPatch("c")).isFalse();
    }

    @Test
    void only_a_patch_is_a_patch() {
        Replay replay = replay(step(1, "a"), patch(3, "a"));
        assertThat(replay.nextIsPatch("a")).isFalse();
        replay.take(Kind.STEP, "a");
        assertThat(replay.nextIsPatch("a")).isFalse();
        assertMismatch(
                () -> replay.take(Kind.STEP, "b"), 2, "nothing, and later, at position 3, patched(\"a\")", "step 'b'");
    }

    @Test
    void a_derived_call_takes_a_position_without_an_entry() {
        Replay replay = replay(step(1, "a"), patch(2, "p"), step(4, "b"));
        replay.take(Kind.STEP, "a");
        assertThat(replay.takeDerived("uuid()")).isEqualTo(3);
        assertMismatch(() -> replay.takeDerived("uuid()"), 4, "step 'b'", "uuid()");
    }

    @Test
    void a_workflow_that_ends_must_have_come_past_everything() {
        Replay replay = replay(step(1, "a"), patch(2, "p"), step(3, "b"));
        replay.take(Kind.STEP, "a");
        assertMismatch(() -> replay.finish("the end"), 3, "step 'b'", "the end");
        Replay unbegun = replay(entry(2, 1, Kind.TIMER, "PT1M"));
        assertMismatch(() -> unbegun.finish("the end"), 2, "timer of PT1M", "the end");
    }

    @Test
    void pages_are_asked_for_only_when_the_code_comes_to_them_and_from_where_the_last_one_ended() {
        List<Integer> asked = new ArrayList<>();
        List<Page> pages =
                List.of(new Page(List.of(step(3, "c"), step(4, "d")), false), new Page(List.of(step(5, "e")), true));
        Replay replay = new Replay(
                new Replay.Origin("order-7", null, true),
                new Page(List.of(step(1, "a"), step(2, "b")), false),
                after -> {
                    asked.add(after);
                    return pages.get(asked.size() - 1);
                });
        assertThat(replay.past(replay.take(Kind.STEP, "a")).answer()).isPresent();
        assertThat(replay.past(replay.take(Kind.STEP, "b")).answer()).isPresent();
        assertThat(asked).isEmpty();
        assertThat(replay.replaying()).isTrue();
        assertThat(asked).containsExactly(2);
        for (String name : List.of("c", "d", "e")) {
            assertThat(replay.past(replay.take(Kind.STEP, name)).answer())
                    .as(name)
                    .isPresent();
        }
        assertThat(asked).containsExactly(2, 4);
        assertThat(replay.replaying()).isFalse();
        replay.finish("the end");
        assertThat(asked).containsExactly(2, 4);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "STEP, step 'x'",
                "TRANSACTION, transaction 'x'",
                "SLEEP, sleep of x",
                "NOW, now()",
                "PATCH, patched(\"x\")",
                "TIMER, timer of x",
                "RECEIVE, receive on topic 'x'",
                "CHILD, child 'x'",
                "PROMISE, promise 'x'",
                "AWAKEABLE, awakeable()",
                "EVENT, event 'x'",
                "CHOICE, x",
                "AWAIT, await()",
                "EFFECT, x",
                "STATE, get of state 'x'",
                "STATE_NAMES, keys()",
            })
    void every_kind_of_call_has_its_words(Kind kind, String words) {
        assertThat(new ContextCall(1, kind, "x").describe()).isEqualTo(words);
    }

    @Test
    void entries_of_a_call_carry_its_position_kind_and_name() {
        ContextCall call = new ContextCall(7, Kind.STEP, "charge");
        assertThat(call.answer(Status.VALUE, Payload.EMPTY))
                .isEqualTo(new Entry(7, Entry.ANSWER, Kind.STEP, "charge", Status.VALUE, Payload.EMPTY));
        assertThat(call.note(3, Status.ATTEMPT, Payload.EMPTY))
                .isEqualTo(new Entry(7, 3, Kind.STEP, "charge", Status.ATTEMPT, Payload.EMPTY));
    }
}
