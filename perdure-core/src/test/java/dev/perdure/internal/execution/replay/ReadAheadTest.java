package dev.perdure.internal.execution.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.perdure.error.StoreException;
import dev.perdure.internal.time.SystemClockwork;
import dev.perdure.spi.Journals.Page;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Recorded;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(10)
final class ReadAheadTest {
    private static final int LAST = 5;

    private final List<Integer> read = Collections.synchronizedList(new ArrayList<>());
    private final AtomicReference<Throwable> trouble = new AtomicReference<>();

    /** A journal with a position on each page. */
    private Page page(int after) {
        read.add(after);
        Throwable thrown = after == 2 ? trouble.getAndSet(null) : null;
        if (thrown instanceof Error broken) {
            throw broken;
        }
        if (thrown instanceof RuntimeException unreachable) {
            throw unreachable;
        }
        return new Page(List.of(step(after + 1)), after + 1 == LAST);
    }

    private static Recorded step(int position) {
        Entry entry = new Entry(position, Entry.ANSWER, Entry.Kind.STEP, "s", Entry.Status.VALUE, Payload.EMPTY);
        return new Recorded(entry, Instant.EPOCH);
    }

    private IntFunction<Page> pages() {
        return new ReadAhead(new SystemClockwork(), "run", this::page);
    }

    @Test
    void every_page_is_read_once_and_no_more_than_two_ahead() {
        IntFunction<Page> pages = pages();
        for (int after = 0; after < LAST; after++) {
            assertThat(pages.apply(after).entries().getFirst().entry().position())
                    .isEqualTo(after + 1);
            assertThat(read.size()).isLessThanOrEqualTo(after + 3);
        }
        assertThat(read).containsExactly(0, 1, 2, 3, 4);
    }

    @Test
    void two_pages_are_read_while_the_code_goes_through_the_first() {
        assertThat(pages().apply(0).last()).isFalse();
        await().during(Duration.ofMillis(100))
                .untilAsserted(() -> assertThat(read).containsExactly(0, 1, 2));
    }

    @Test
    void what_could_not_be_read_is_read_again_when_it_is_asked_for_again() {
        trouble.set(new StoreException(StoreException.Kind.UNUSABLE, "no rights", null));
        IntFunction<Page> pages = pages();
        assertThat(pages.apply(0).last()).isFalse();
        assertThat(pages.apply(1).last()).isFalse();
        assertThatThrownBy(() -> pages.apply(2))
                .isInstanceOf(StoreException.class)
                .hasMessage("no rights");
        assertThat(pages.apply(2).entries()).containsExactly(step(3));
        assertThat(pages.apply(3).entries()).containsExactly(step(4));
    }

    @Test
    void what_breaks_the_reading_thread_reaches_the_caller() {
        trouble.set(new OutOfMemoryError("in a test"));
        IntFunction<Page> pages = pages();
        assertThat(pages.apply(0).last()).isFalse();
        assertThat(pages.apply(1).last()).isFalse();
        assertThatThrownBy(() -> pages.apply(2)).isInstanceOf(OutOfMemoryError.class);
    }

    @Test
    void a_replay_passes_from_page_to_page_with_gaps_and_looks_ahead() {
        List<Recorded> journal = List.of(step(1), step(3), step(4), step(7));
        Replay replay = new Replay(
                new Replay.Origin("run", null, true),
                Page.UNREAD,
                after -> journal.stream()
                        .filter(recorded -> recorded.entry().position() > after)
                        .findFirst()
                        .map(next -> new Page(List.of(next), next.equals(journal.getLast())))
                        .orElse(Page.EMPTY));
        for (int position = 1; position <= 8; position++) {
            ContextCall call = replay.take(Entry.Kind.STEP, "s", true);
            assertThat(replay.past(call).answer().isPresent())
                    .as("position %d", position)
                    .isEqualTo(List.of(1, 3, 4, 7).contains(position));
            assertThat(replay.past(call).notes()).isEmpty();
            assertThat(replay.replaying()).as("position %d", position).isEqualTo(position < 7);
        }
        replay.finish("the end");
    }
}
