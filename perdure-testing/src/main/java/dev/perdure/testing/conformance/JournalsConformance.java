package dev.perdure.testing.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.spi.Entry;
import dev.perdure.spi.Journals.Page;
import dev.perdure.spi.RunRef;
import dev.perdure.spi.WorkerId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Reading journals in pages. */
public abstract class JournalsConformance extends StoreConformance {
    /** For subclasses. */
    protected JournalsConformance() {}

    private static final RunRef NOBODY = new RunRef(RunId.of("nobody"), 1L << 40);

    private static List<Integer> positions(Page page) {
        return page.entries().stream()
                .map(recorded -> recorded.entry().position())
                .toList();
    }

    private static Entry note(int position, int note, int size) {
        return new Entry(position, note, Entry.Kind.STEP, "s", Entry.Status.ATTEMPT, payload("x".repeat(size)));
    }

    @Test
    void a_run_that_has_done_nothing_has_an_empty_journal() {
        RunRef run = startReady("a");

        assertThat(store().journals().read(run, 0, 1_000)).isEqualTo(Page.EMPTY);
        assertThat(store().journals().read(NOBODY, 0, 1_000)).isEqualTo(Page.EMPTY);
    }

    @Test
    void pages_are_bounded_by_bytes_and_hold_whole_positions() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(
                worker,
                advance(
                        run,
                        1,
                        STAY,
                        note(1, 0, 40),
                        note(2, 1, 40),
                        note(2, 2, 40),
                        note(2, 0, 40),
                        note(3, 0, 40),
                        note(7, 0, 500),
                        note(8, 0, 1)));

        Page first = store().journals().read(run, 0, 100);
        assertThat(positions(first)).containsExactly(1, 2, 2, 2);
        assertThat(first.entries())
                .extracting(recorded -> recorded.entry().note())
                .containsExactly(0, 0, 1, 2);
        assertThat(first.last()).isFalse();
        Page second = store().journals().read(run, 2, 100);
        assertThat(positions(second)).containsExactly(3);
        Page third = store().journals().read(run, 3, 100);
        assertThat(positions(third)).containsExactly(7);
        assertThat(third.last()).isFalse();
        Page fourth = store().journals().read(run, 7, 100);
        assertThat(positions(fourth)).containsExactly(8);
        assertThat(fourth.last()).isTrue();
        assertThat(store().journals().read(run, 8, 100)).isEqualTo(Page.EMPTY);
    }

    @Test
    void a_page_fits_exactly() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, STAY, note(1, 0, 50), note(2, 0, 50), note(3, 0, 0)));

        assertThat(store().journals().read(run, 0, 100)).satisfies(page -> {
            assertThat(positions(page)).containsExactly(1, 2, 3);
            assertThat(page.last()).isTrue();
        });
        assertThat(positions(store().journals().read(run, 0, 99))).containsExactly(1);
    }

    @Test
    void a_long_journal_is_read_page_by_page_without_gap_or_double() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Entry[] entries =
                IntStream.rangeClosed(1, 10_000).mapToObj(i -> note(i, 0, 10)).toArray(Entry[]::new);
        apply(worker, advance(run, 1, STAY, entries));

        List<Integer> read = new ArrayList<>();
        Page page = store().journals().read(run, 0, 60_000);
        read.addAll(positions(page));
        while (!page.last()) {
            page = store().journals().read(run, read.getLast(), 60_000);
            read.addAll(positions(page));
        }
        assertThat(read)
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, 10_000).boxed().toList());
    }

    @Test
    void a_position_with_very_many_notes_stays_whole() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Entry[] notes = IntStream.range(0, 9_000).mapToObj(i -> note(1, i, 1)).toArray(Entry[]::new);
        apply(worker, advance(run, 1, STAY, notes));
        apply(worker, advance(run, 1, STAY, note(2, 0, 1)));

        Page page = store().journals().read(run, 0, 100);
        assertThat(page.entries()).hasSize(9_000);
        assertThat(page.last()).isFalse();
    }

    @Test
    void many_first_pages_are_read_at_once() {
        WorkerId worker = join();
        RunRef busy = startOwned(worker, "busy");
        RunRef idle = startOwned(worker, "idle");
        apply(worker, advance(busy, 1, STAY, note(1, 0, 60), note(2, 0, 60)));

        Map<RunRef, Page> pages = store().journals().readFirst(List.of(busy, idle, NOBODY), 100);

        assertThat(pages).containsOnlyKeys(busy, idle, NOBODY);
        assertThat(positions(Objects.requireNonNull(pages.get(busy)))).containsExactly(1);
        assertThat(Objects.requireNonNull(pages.get(busy)).last()).isFalse();
        assertThat(pages.get(idle)).isEqualTo(Page.EMPTY);
        assertThat(pages.get(NOBODY)).isEqualTo(Page.EMPTY);
    }

    @Test
    void input_and_outcome_are_no_entries() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, complete("1"), step(1, "1")));

        assertThat(journalOf(run)).containsExactly(step(1, "1"));
    }
}
