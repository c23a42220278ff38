package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.spi.Journals.Page;
import dev.perdure.spi.Journals.TimePlace;
import dev.perdure.spi.Journals.Timed;
import dev.perdure.spi.Journals.TimedPage;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
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
    void entries_are_read_as_they_were_recorded() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        List<Entry> entries = new ArrayList<>();
        for (Entry.Kind kind : Entry.Kind.values()) {
            for (Entry.Status status : Entry.Status.values()) {
                int position = entries.size() + 1;
                int note = List.of(Entry.ANSWER, 1, 300, (int) Short.MAX_VALUE).get(position % 4);
                String text = "x".repeat(position % 50 == 0 ? 5_000 : position);
                entries.add(new Entry(position, note, kind, kind + "/" + status, status, payload(text)));
            }
        }
        entries.removeIf(entry -> !entry.isKnown());
        apply(worker, advance(run, 1, STAY, entries.toArray(Entry[]::new)));

        assertThat(pages(run, 2_000))
                .flatExtracting(Page::entries)
                .extracting(Recorded::entry)
                .isEqualTo(entries);
    }

    private List<Timed> byTime(RunRef run, int limit, int maxBytes) {
        List<Timed> all = new ArrayList<>();
        TimePlace place = TimePlace.FIRST;
        TimedPage page;
        do {
            page = store().journals().readByTime(run, place, limit, maxBytes);
            assertThat(page.entries()).hasSizeLessThanOrEqualTo(limit);
            all.addAll(page.entries());
            if (!page.entries().isEmpty()) {
                Recorded last = page.entries().getLast().recorded();
                place = new TimePlace(
                        last.at(), last.entry().position(), last.entry().note());
            }
        } while (!page.last());
        return all;
    }

    @Test
    void entries_are_read_in_the_order_of_time() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Entry later = new Entry(1, 0, Entry.Kind.STEP, "s", Entry.Status.VALUE, payload("result"));
        Entry failed = new Entry(4, 0, Entry.Kind.STEP, "t", Entry.Status.FAILURE, payload("why"));
        Entry child = new Entry(5, 1, Entry.Kind.CHILD, "c", Entry.Status.BEGUN, payload("begun"));
        apply(worker, advance(run, 1, STAY, note(1, 1, 40), note(3, 1, 40)));
        advance(Duration.ofSeconds(1));
        apply(worker, advance(run, 1, STAY, failed, note(1, 2, 40), child));
        advance(Duration.ofSeconds(1));
        Entry headers =
                new Entry(6, Entry.HEADERS, Entry.Kind.RECEIVE, "m", Entry.Status.HEADERS, payload("tenant=acme"));
        apply(worker, advance(run, 1, STAY, later, headers));

        List<Timed> all = byTime(run, 100, 1_000);
        assertThat(all)
                .extracting(timed -> timed.recorded().entry())
                .as("payloads of failures and headers only")
                .containsExactly(
                        note(1, 1, 40),
                        note(3, 1, 40),
                        note(1, 2, 40),
                        failed,
                        without(child),
                        without(later),
                        headers);
        assertThat(all).extracting(Timed::failedAttempts).containsExactly(2, 1, 2, 0, 0, 2, 0);
        assertThat(all.getLast().recorded().at()).isEqualTo(now());
        for (int limit = 1; limit < 4; limit++) {
            assertThat(byTime(run, limit, 1_000)).isEqualTo(all);
        }
        assertThat(store().journals().readByTime(run, TimePlace.FIRST, 100, 80).entries())
                .isEqualTo(all.subList(0, 2));
        assertThat(byTime(run, 100, 1)).isEqualTo(all);
        assertThat(byTime(NOBODY, 100, 1)).isEmpty();
    }

    private static Entry without(Entry entry) {
        return new Entry(entry.position(), entry.note(), entry.kind(), entry.name(), entry.status(), payload(""));
    }

    @Test
    void pages_are_bounded_by_bytes_and_hold_whole_positions() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Entry[] entries = {
            note(1, 0, 40),
            note(2, 0, 40),
            note(2, 1, 40),
            note(2, 2, 40),
            note(3, 0, 40),
            note(7, 0, 500),
            note(8, 0, 1),
            note(9, 0, 3_000),
            note(10, 0, 10)
        };
        apply(worker, advance(run, 1, STAY, entries));

        List<Page> pages = pages(run, 100);

        assertThat(pages).hasSizeGreaterThan(3).allSatisfy(page -> {
            assertThat(page.entries()).isNotEmpty();
            if (new HashSet<>(positions(page)).size() > 1) {
                assertThat(page.entries().stream()
                                .mapToInt(recorded -> recorded.entry().payload().size())
                                .sum())
                        .isLessThanOrEqualTo(400);
            }
        });
        assertThat(pages.stream().flatMap(page -> new HashSet<>(positions(page)).stream()))
                .as("each position is on one page")
                .containsExactly(1, 2, 3, 7, 8, 9, 10);
        assertThat(pages.stream().flatMap(page -> page.entries().stream()).map(Recorded::entry))
                .containsExactly(entries);
        assertThat(store().journals().read(run, 10, 100)).isEqualTo(Page.EMPTY);
    }

    private List<Page> pages(RunRef run, int maxBytes) {
        List<Page> pages = new ArrayList<>(List.of(store().journals().read(run, 0, maxBytes)));
        while (!pages.getLast().last()) {
            pages.add(store().journals().read(run, positions(pages.getLast()).getLast(), maxBytes));
        }
        return pages;
    }

    @Test
    void a_long_journal_is_read_page_by_page_without_gap_or_double() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Entry[] entries =
                IntStream.rangeClosed(1, 10_000).mapToObj(i -> note(i, 0, 10)).toArray(Entry[]::new);
        apply(worker, advance(run, 1, STAY, entries));

        List<Page> pages = pages(run, 60_000);

        assertThat(pages).hasSizeGreaterThan(1);
        assertThat(pages.stream().flatMap(page -> positions(page).stream()))
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, 10_000).boxed().toList());
    }

    @Test
    void entries_of_very_different_sizes_share_pages() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Entry[] entries = IntStream.rangeClosed(1, 1_000)
                .mapToObj(i -> note(i, 0, i % 20 == 0 ? 800 : 20))
                .toArray(Entry[]::new);
        apply(worker, advance(run, 1, STAY, entries));

        List<Page> pages = pages(run, 20_000);

        assertThat(pages).hasSizeLessThanOrEqualTo(10);
        assertThat(pages.stream().flatMap(page -> page.entries().stream()).map(Recorded::entry))
                .containsExactly(entries);
    }

    @Test
    void first_pages_have_large_entries_too() {
        WorkerId worker = join();
        List<RunRef> runs = List.of(startOwned(worker, "a"), startOwned(worker, "b"));
        runs.forEach(run -> apply(worker, advance(run, 1, STAY, note(1, 0, 20), note(2, 0, 3_000), note(3, 0, 20))));

        Map<RunRef, Page> pages = store().journals().readFirst(runs, 10_000);

        assertThat(pages.values()).hasSize(2).allSatisfy(page -> {
            assertThat(page.entries())
                    .extracting(recorded -> recorded.entry().payload().size())
                    .containsExactly(20, 3_000, 20);
            assertThat(page.last()).isTrue();
        });
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
        apply(worker, advance(busy, 1, STAY, note(1, 0, 600), note(2, 0, 600)));

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
