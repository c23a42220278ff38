package dev.perdure.conformance.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
import dev.perdure.conformance.StoreConformance;
import dev.perdure.report.LogFilter;
import dev.perdure.report.LogLine;
import dev.perdure.report.LogPage;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.report.Reports;
import dev.perdure.spi.report.Reports.Line;
import dev.perdure.spi.report.Reports.Source;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;

/** Log lines of steps: their order, how many are kept, who may write them, and how long they stay. */
public abstract class LogConformance extends StoreConformance {
    private static final int POSITION = 3;
    private static final LogFilter ALL = LogFilter.oldest(1_000);

    /** For subclasses. */
    protected LogConformance() {}

    private static Line line(RunRef run, long epoch, long number, String text) {
        Source source = new Source(run, epoch, POSITION, "import", 2);
        return new Line(source, Reports.version(epoch, number), BEGINNING, Level.INFO, "shop.Import", text);
    }

    private static List<Line> lines(RunRef run, long epoch, int from, int to) {
        return IntStream.rangeClosed(from, to)
                .mapToObj(number -> line(run, epoch, number, "line " + number))
                .toList();
    }

    private List<String> textsOf(RunRef run) {
        return texts(store().reports().log(run, ALL));
    }

    private static List<String> texts(LogPage page) {
        return page.lines().stream().map(LogLine::text).toList();
    }

    @Test
    void lines_come_back_as_they_were_written_in_their_order() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        List<Line> written = IntStream.range(0, Level.values().length)
                .mapToObj(i -> new Line(
                        new Source(run, 1, POSITION, "import", 2),
                        Reports.version(1, i + 1),
                        BEGINNING.plusMillis(i),
                        Level.values()[i],
                        "shop.Import",
                        "line " + i + "\n\uD83D\uDE80 'half'"))
                .toList();

        store().reports().log(worker, written);

        LogPage page = store().reports().log(run, ALL);
        assertThat(page.dropped()).isZero();
        assertThat(page.lines())
                .containsExactlyElementsOf(written.stream()
                        .map(each -> new LogLine(
                                each.number(),
                                "import",
                                POSITION,
                                2,
                                each.at(),
                                each.level(),
                                each.logger(),
                                each.text()))
                        .toList());
    }

    @Test
    void lines_that_are_sent_again_are_there_once() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");

        store().reports().log(worker, lines(run, 1, 1, 2));
        store().reports().log(worker, lines(run, 1, 1, 3));
        store().reports().log(worker, lines(run, 1, 1, 1));

        assertThat(textsOf(run)).containsExactly("line 1", "line 2", "line 3");
        assertThat(store().reports().log(run, ALL).dropped()).isZero();
    }

    @Test
    void lines_are_read_in_pages_from_either_end() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        store().reports().log(worker, lines(run, 1, 1, 5));

        LogPage first = store().reports().log(run, LogFilter.oldest(2));
        assertThat(texts(first)).containsExactly("line 1", "line 2");
        LogFilter next = LogFilter.oldest(2).after(first.lines().getLast());
        assertThat(texts(store().reports().log(run, next))).containsExactly("line 3", "line 4");
        assertThat(texts(store().reports().log(run, LogFilter.newest(2)))).containsExactly("line 4", "line 5");
        LogFilter rest = LogFilter.newest(9).after(first.lines().getLast());
        assertThat(texts(store().reports().log(run, rest))).containsExactly("line 3", "line 4", "line 5");
    }

    @Test
    void the_newest_thousand_lines_are_kept_and_the_others_counted() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        for (int from = 1; from < 1_500; from += 400) {
            store().reports().log(worker, lines(run, 1, from, from + 399));
        }

        LogPage page = store().reports().log(run, ALL);
        assertThat(page.lines()).hasSize(1_000);
        assertThat(texts(page)).startsWith("line 601").endsWith("line 1600");
        assertThat(page.dropped()).isEqualTo(600);

        store().reports().log(worker, lines(run, 1, 1_601, 4_000));
        LogPage later = store().reports().log(run, ALL);
        assertThat(later.lines()).hasSize(1_000);
        assertThat(texts(later)).startsWith("line 3001").endsWith("line 4000");
        assertThat(later.dropped()).isEqualTo(3_000);
    }

    @Test
    void long_lines_are_dropped_by_their_bytes() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        String half = "\u00e9".repeat(8 * 1024 - 10); // with the name of the logger, a little less than 16 KiB
        for (int number = 1; number <= 40; number++) {
            store().reports().log(worker, List.of(line(run, 1, number, half + number % 10)));
        }

        LogPage page = store().reports().log(run, ALL);
        assertThat(page.lines()).hasSize(16);
        assertThat(page.lines().getLast().text()).endsWith("0");
        assertThat(page.dropped()).isEqualTo(24);
    }

    @Test
    void lines_that_never_came_count_as_dropped() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");

        store().reports().log(worker, List.of(line(run, 1, 3, "third"), line(run, 1, 10, "tenth")));

        LogPage page = store().reports().log(run, ALL);
        assertThat(texts(page)).containsExactly("third", "tenth");
        assertThat(page.dropped()).isEqualTo(8);
    }

    @Test
    void only_the_worker_that_holds_the_run_logs() {
        WorkerId worker = join();
        WorkerId other = join();
        RunRef run = startOwned(worker, "a");

        store().reports().log(other, lines(run, 1, 1, 1));
        store().reports().log(worker, lines(run, 2, 1, 1));
        assertThat(textsOf(run)).isEmpty();

        store().leases().leave(worker);
        store().reports().log(worker, lines(run, 1, 1, 1));
        assertThat(textsOf(run)).isEmpty();
    }

    @Test
    void the_next_worker_goes_on_behind_the_lines_of_the_one_before() {
        WorkerId first = join();
        RunRef run = startOwned(first, "a");
        store().reports().log(first, lines(run, 1, 1, 2));
        apply(first, advance(run, 1, new Move.Yield()));
        store().reports().log(first, lines(run, 1, 3, 3));
        WorkerId second = join();
        long epoch = claimOne(second).epoch();

        store().reports().log(second, lines(run, epoch, 1, 2));
        store().reports().log(first, lines(run, 1, 4, 4));

        assertThat(textsOf(run)).containsExactly("line 1", "line 2", "line 3", "line 1", "line 2");
        assertThat(store().reports().log(run, ALL).dropped()).isZero();
    }

    @Test
    void the_worker_before_may_write_its_lines_until_the_next_one_has() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, new Move.Yield()));
        long epoch = claimOne(worker).epoch();
        List<Line> both = new ArrayList<>(lines(run, 1, 1, 2));
        both.addAll(lines(run, epoch, 1, 3));

        store().reports().log(worker, both);
        store().reports().log(worker, lines(run, 1, 3, 3));

        assertThat(textsOf(run)).containsExactly("line 1", "line 2", "line 1", "line 2", "line 3");
        assertThat(store().reports().log(run, ALL).dropped()).isZero();
    }

    @Test
    void lines_of_earlier_lives_stay() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        store().reports().log(worker, lines(run, 1, 1, 1));
        apply(worker, advance(run, 1, new Move.Restart(payload("2"), 7)));
        long epoch = claimOne(worker).epoch();

        store().reports().log(worker, List.of(line(run, epoch, 1, "of the second life")));

        assertThat(textsOf(run)).containsExactly("line 1", "of the second life");
    }

    @Test
    void the_last_lines_are_taken_although_the_run_has_just_ended() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, new Move.End(RunState.FAILED, payload("{}"), "no")));

        store().reports().log(worker, lines(run, 1, 1, 2));

        assertThat(textsOf(run)).containsExactly("line 1", "line 2");
    }

    @Test
    void lines_of_several_runs_are_written_at_once_and_go_with_their_runs() {
        WorkerId worker = join();
        RunRef one = startOwned(worker, "a");
        RunRef two = startOwned(worker, "b");
        store().reports()
                .log(worker, List.of(line(one, 1, 1, "of a"), line(two, 1, 1, "of b"), line(one, 1, 2, "of a again")));

        assertThat(textsOf(one)).containsExactly("of a", "of a again");
        assertThat(textsOf(two)).containsExactly("of b");

        apply(worker, advance(one, 1, complete("1")));
        free("a");
        store().reports().log(worker, lines(one, 1, 3, 3));
        assertThat(textsOf(one)).isEmpty();
        assertThat(store().reports().log(one, ALL).dropped()).isZero();
        assertThat(textsOf(two)).containsExactly("of b");
    }
}
