package dev.perdure.conformance.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
import dev.perdure.conformance.StoreConformance;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.report.Reports;
import dev.perdure.spi.report.Reports.Heartbeat;
import dev.perdure.spi.report.Reports.Report;
import dev.perdure.spi.report.Reports.Reported;
import dev.perdure.spi.report.Reports.Source;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What steps report: the latest report of each position, who may write it, and how long it stays. */
public abstract class ReportConformance extends StoreConformance {
    private static final int POSITION = 3;

    /** For subclasses. */
    protected ReportConformance() {}

    private static Report report(RunRef run, long epoch, long number, @Nullable Double fraction, String message) {
        return new Report(
                new Source(run, epoch, POSITION, "import", 1), Reports.version(epoch, number), fraction, message, null);
    }

    private static Report at(Report report, int position) {
        Source source = report.source();
        return new Report(
                new Source(source.run(), source.epoch(), position, source.step(), source.attempt()),
                report.version(),
                report.fraction(),
                report.message(),
                report.heartbeat());
    }

    private static Report with(Report report, Payload heartbeat) {
        return new Report(
                report.source(),
                report.version(),
                report.fraction(),
                report.message(),
                new Heartbeat(report.version(), heartbeat));
    }

    private void write(WorkerId worker, Report... reports) {
        store().reports().write(worker, List.of(reports));
    }

    private @Nullable String messageOf(RunRef run) {
        return store().reports()
                .find(run, POSITION)
                .map(reported -> reported.report().message())
                .orElse(null);
    }

    @Test
    void a_report_comes_back_as_it_was_written_with_the_time() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Report report = with(report(run, 1, 1, 0.4, "page 3 of 7\n\uD83D\uDE80 'half'"), payload("{\"page\":3}"));
        advance(Duration.ofMinutes(1));

        write(worker, report);

        assertThat(store().reports().find(run, POSITION)).contains(new Reported(report, now()));
        assertThat(store().reports().open(run)).containsExactly(new Reported(report, now()));
        assertThat(store().reports().find(run, POSITION + 1)).isEmpty();
    }

    @Test
    void a_report_may_say_nothing_but_that_the_step_is_at_work() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Report silent = report(run, 1, 1, null, "");
        Report empty = with(report(run, 1, 2, null, ""), Payload.EMPTY);

        write(worker, silent);
        assertThat(store().reports().find(run, POSITION)).contains(new Reported(silent, now()));
        write(worker, empty);
        assertThat(store().reports().find(run, POSITION)).contains(new Reported(empty, now()));
    }

    @Test
    void a_later_report_replaces_an_earlier_one_and_not_the_other_way_round() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");

        write(worker, report(run, 1, 1, 0.1, "first"));
        write(worker, report(run, 1, 2, 0.2, "second"));
        write(worker, report(run, 1, 1, 0.1, "first"));

        assertThat(messageOf(run)).isEqualTo("second");
    }

    @Test
    void a_report_without_a_heartbeat_keeps_the_last_one() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Report first = with(report(run, 1, 1, 0.1, "first"), payload("1"));

        write(worker, first);
        write(worker, report(run, 1, 2, 0.2, "second"));

        Report kept = store().reports().find(run, POSITION).orElseThrow().report();
        assertThat(kept.message()).isEqualTo("second");
        assertThat(kept.heartbeat()).isEqualTo(first.heartbeat());
    }

    @Test
    void only_the_worker_that_holds_the_run_reports() {
        WorkerId worker = join();
        WorkerId other = join();
        RunRef run = startOwned(worker, "a");

        write(other, report(run, 1, 1, 0.1, "of another worker"));
        write(worker, report(run, 2, 1, 0.1, "of another epoch"));
        assertThat(messageOf(run)).isNull();

        write(worker, report(run, 1, 1, 0.1, "its own"));
        store().leases().leave(worker);
        write(worker, report(run, 1, 2, 0.2, "after its lease"));
        assertThat(messageOf(run)).isEqualTo("its own");
    }

    @Test
    void a_worker_that_held_the_run_before_reports_nothing_more() {
        WorkerId first = join();
        RunRef run = startOwned(first, "a");
        apply(first, advance(run, 1, new Move.Yield()));
        WorkerId second = join();
        assertThat(claimOne(second).epoch()).isEqualTo(2);

        write(second, report(run, 2, 1, 0.1, "second"));
        write(first, report(run, 1, 9, 0.9, "first"));

        assertThat(messageOf(run)).isEqualTo("second");
    }

    @Test
    void the_last_report_is_taken_although_the_run_has_just_stopped() {
        WorkerId worker = join();
        RunRef waiting = startOwned(worker, "waiting");
        RunRef failed = startOwned(worker, "failed");
        apply(worker, advance(waiting, 1, new Move.Wait(RunState.BACKING_OFF, new Due.In(Duration.ofHours(1)), 0)));
        apply(worker, advance(failed, 1, new Move.End(RunState.FAILED, payload("{}"), "no")));

        write(worker, report(waiting, 1, 1, 0.1, "last"), report(failed, 1, 1, 0.1, "last"));

        assertThat(messageOf(waiting)).isEqualTo("last");
        assertThat(messageOf(failed)).isEqualTo("last");
    }

    @Test
    void open_reports_are_those_of_steps_without_an_answer_by_position() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        for (int position : List.of(5, 4, 3)) {
            write(worker, at(report(run, 1, position, 0.1, "at " + position), position));
        }
        apply(worker, advance(run, 1, STAY, step(4, "4")));

        assertThat(store().reports().open(run))
                .extracting(reported -> reported.report().message())
                .containsExactly("at 3", "at 5");

        apply(worker, advance(run, 1, complete("1")));
        assertThat(store().reports().open(run)).isEmpty();
    }

    @Test
    void another_life_begins_without_reports() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        write(worker, with(report(run, 1, 1, 0.1, "of the first life"), payload("1")));
        apply(worker, advance(run, 1, new Move.Restart(payload("2"), 7)));

        assertThat(store().reports().find(run, POSITION)).isEmpty();
        assertThat(store().reports().open(run)).isEmpty();

        long epoch = claimOne(worker).epoch();
        write(worker, report(run, epoch, 1, 0.2, "of the second"));
        Report second = store().reports().find(run, POSITION).orElseThrow().report();
        assertThat(second.message()).isEqualTo("of the second");
        assertThat(second.heartbeat()).isNull();
    }

    @Test
    void reports_of_many_runs_are_written_at_once() {
        WorkerId worker = join();
        List<RunRef> runs = List.of(startOwned(worker, "a"), startOwned(worker, "b"), startOwned(worker, "c"));
        store().reports()
                .write(
                        worker,
                        runs.stream()
                                .map(run -> report(run, 1, 1, 0.5, "half of " + run.id()))
                                .toList());
        assertThat(runs).allSatisfy(run -> assertThat(messageOf(run)).isEqualTo("half of " + run.id()));
    }

    @Test
    void reports_go_with_their_run() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        write(worker, report(run, 1, 1, 0.1, "old"));
        apply(worker, advance(run, 1, new Move.End(RunState.FAILED, payload("{}"), "no")));
        free("a");

        write(worker, report(run, 1, 2, 0.2, "late"));
        assertThat(messageOf(run)).isNull();
        RunRef next = startOwned(worker, "a");
        assertThat(store().reports().open(next)).isEmpty();
    }

    @Test
    void an_unknown_run_has_no_reports() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        RunRef unknown = new RunRef(run.id(), run.key() + 256);

        write(worker, report(unknown, 1, 1, 0.1, "nowhere"));

        assertThat(store().reports().find(unknown, POSITION)).isEmpty();
        assertThat(store().reports().open(unknown)).isEmpty();
    }
}
