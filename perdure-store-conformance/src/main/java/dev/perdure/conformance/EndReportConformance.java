package dev.perdure.conformance;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Awaited;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.EndReport;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Runs that report their ends to a run that is not their parent. */
public abstract class EndReportConformance extends StoreConformance {
    private static final Channel NEWS = Channel.message("news");

    /** For subclasses. */
    protected EndReportConformance() {}

    private static NewRun reporting(String id, RunRef to) {
        return newRun(id).withParent(Parent.reporting(to));
    }

    private List<EndReport> reports(RunRef run) {
        return store().mailboxes().unread(run, 0, 100_000).stream()
                .map(arrived -> {
                    assertThat(arrived.mail().channel()).isEqualTo(EndReport.channel());
                    return EndReport.read(arrived.mail().payload()).orElseThrow();
                })
                .toList();
    }

    private RunRef fire(WorkerId worker, RunRef from, String id, Move move) {
        apply(worker, advance(from, 1, move, List.of(new Effect.Start(reporting(id, from)))));
        return refOf(id);
    }

    @Test
    void the_end_of_a_run_wakes_the_run_that_waits_for_reports() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        fire(worker, run, "fired", await(1, EndReport.channel()));
        Claimed fired = claimOne(worker);
        Change.Advance end = advance(fired.run(), 1, complete("\"done\""), step(1, "1"));

        assertThat(apply(worker, end)).isInstanceOf(Outcome.Applied.class);
        assertThat(apply(worker, end)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(stateOf(run)).isEqualTo(RunState.READY);
        assertThat(reports(run)).containsExactly(new EndReport(RunId.of("fired"), RunState.COMPLETED, ""));
    }

    @Test
    void a_report_does_not_wake_a_run_that_waits_for_something_else() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        fire(worker, run, "fired", await(1, NEWS));
        apply(worker, advance(claimOne(worker).run(), 1, complete("1")));

        assertThat(stateOf(run)).isEqualTo(RunState.SUSPENDED);
        assertThat(reports(run)).hasSize(1);
    }

    @Test
    void a_report_reaches_a_run_that_a_worker_holds() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        RunRef fired = fire(worker, run, "fired", STAY);
        assertThat(claimOne(worker).run()).isEqualTo(fired);
        apply(worker, advance(fired, 1, complete("1")));

        assertThat(reports(run)).hasSize(1);
        assertThat(apply(worker, advance(run, 1, await(1, EndReport.channel()))))
                .isInstanceOf(Outcome.Woken.class);
    }

    @Test
    void mail_has_the_time_of_its_arrival() {
        RunRef run = startReady("a");
        deliver(run, mail(NEWS, "1"));
        Instant first = now();
        advance(Duration.ofHours(1));
        deliver(run, mail(NEWS, "2"));

        assertThat(store().mailboxes().unread(run, 0, 1_000))
                .extracting(arrived -> arrived.at())
                .containsExactly(first, now());
    }

    @Test
    void a_run_is_found_with_what_it_recorded_last_in_the_order_of_ids() {
        WorkerId worker = join();
        RunRef second = startOwned(worker, "x:b");
        RunRef first = startReady("x:a");
        startReady("x");
        startReady("y:a");
        apply(worker, advance(second, 1, STAY, step(1, "1"), step(2, "2")));

        assertThat(store().runs().latest("x:", "x:", 10))
                .extracting(latest ->
                        latest.run().id() + " " + new String(latest.recorded().bytes(), UTF_8))
                .containsExactly("x:a \"input of x:a\"", "x:b 2");
        assertThat(store().runs().latest("x:", "x:a", 10)).hasSize(1);
        assertThat(store().runs().latest("x:", "x:", 1))
                .extracting(latest -> latest.run())
                .containsExactly(first);
        assertThat(store().runs().latest(second.id()).orElseThrow().recorded()).isEqualTo(payload("2"));
        assertThat(store().runs().latest(RunId.of("nobody"))).isEmpty();
        apply(
                worker,
                advance(
                        second,
                        1,
                        STAY,
                        new Entry(3, 0, Entry.Kind.STEP, "step", Entry.Status.CANCELLED, payload("enough"))));
        assertThat(store().runs().latest(second.id()).orElseThrow().recorded())
                .as("a cancel is no value")
                .isEqualTo(payload("2"));
        apply(worker, advance(second, 1, complete("\"done\"")));
        assertThat(store().runs().latest(second.id()).orElseThrow().recorded())
                .as("the outcome is not recorded by its code")
                .isEqualTo(payload("2"));
    }

    @Test
    void a_report_reaches_every_later_life_of_the_run() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        RunRef fired = fire(worker, run, "fired", STAY);
        claimOne(worker);
        apply(worker, advance(run, 1, new Move.Restart(payload("\"anew\""), 7)));
        apply(worker, advance(fired, 1, new Move.End(RunState.FAILED, payload("{}"), "it broke")));

        assertThat(reports(run)).containsExactly(new EndReport(fired.id(), RunState.FAILED, "it broke"));
    }

    @Test
    void however_a_run_ends_it_reports_why() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        List<String> ids = List.of("failed", "cancelled", "never ran", "killed while ready");
        for (int i = 0; i < ids.size(); i++) {
            RunRef fired = fire(worker, run, ids.get(i), STAY);
            if (i < 2) {
                claimOne(worker);
                Move end = i == 0
                        ? new Move.End(RunState.FAILED, payload("{}"), "it broke")
                        : new Move.End(RunState.CANCELLED, payload(""), "enough");
                apply(worker, advance(fired, 1, end));
            } else {
                command(fired, i == 2 ? Change.CommandKind.CANCEL : Change.CommandKind.KILL, "not\nwanted");
            }
        }
        assertThat(reports(run))
                .containsExactly(
                        new EndReport(RunId.of("failed"), RunState.FAILED, "it broke"),
                        new EndReport(RunId.of("cancelled"), RunState.CANCELLED, "enough"),
                        new EndReport(RunId.of("never ran"), RunState.CANCELLED, "not\nwanted"),
                        new EndReport(RunId.of("killed while ready"), RunState.CANCELLED, "not\nwanted"));
    }

    @Test
    void an_id_that_another_run_has_is_reported_once_and_that_run_reports_nothing() {
        WorkerId worker = join();
        RunRef taken = startReady(withDefinition(newRun("taken"), "other"));
        RunRef run = startOwned(worker, "a");
        Change.Advance start = advance(run, 1, STAY, List.of(new Effect.Start(reporting("taken", run))), step(1, "1"));
        apply(worker, start);
        apply(worker, start);
        command(taken, Change.CommandKind.KILL, "why");

        assertThat(reports(run)).containsExactly(new EndReport(taken.id(), null, ""));
    }

    @Test
    void a_start_that_is_sent_twice_does_not_find_its_own_id_taken() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Change.Advance start = advance(run, 1, STAY, List.of(new Effect.Start(reporting("fired", run))), step(1, "1"));
        apply(worker, start);
        apply(worker, start);

        assertThat(reports(run)).isEmpty();
    }

    @Test
    void a_run_finds_the_mail_that_it_was_started_with() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        deliver(run, mail(NEWS, "\"take me\""));
        List<Mail> mails = List.of(mail(Channel.promise("why"), "\"fired\""), mail(NEWS, "\"first\""));
        Effect.Start start = new Effect.Start(reporting("fired", run), List.of(), mails);
        Change.Advance wait = advance(
                run,
                1,
                new Move.Wait(
                        RunState.SUSPENDED,
                        new Due.In(Duration.ofHours(1)),
                        new Awaited(Set.of(EndReport.channel()), 1),
                        1),
                List.of(new Effect.Take(1), start),
                step(1, "1"));

        assertThat(apply(worker, wait)).isInstanceOf(Outcome.Applied.class);
        assertThat(store().mailboxes().unread(run, 0, 1_000)).isEmpty();
        Claimed fired = claimOne(worker);
        assertThat(fired.control().mails()).isEqualTo(2);
        assertThat(store().mailboxes().unread(fired.run(), 0, 1_000))
                .extracting(arrived -> arrived.mail())
                .containsExactlyElementsOf(mails);
        apply(worker, wait);
        assertThat(store().mailboxes().unread(fired.run(), 0, 1_000)).hasSize(2);
        deliver(fired.run(), mail(NEWS, "\"later\""));
        assertThat(store().mailboxes().unread(fired.run(), 2, 1_000))
                .extracting(arrived -> arrived.number())
                .containsExactly(3L);
        apply(worker, advance(fired.run(), 1, complete("1")));
        assertThat(stateOf(run)).isEqualTo(RunState.READY);
        assertThat(reports(run)).hasSize(1);
    }

    @Test
    void another_run_that_has_the_id_does_not_get_the_mail() {
        WorkerId worker = join();
        RunRef taken = startReady(withDefinition(newRun("taken"), "other"));
        RunRef run = startOwned(worker, "a");
        Effect.Start start =
                new Effect.Start(reporting("taken", run), List.of(), List.of(mail(Channel.promise("why"), "1")));
        apply(worker, advance(run, 1, await(1, NEWS), List.of(start), step(1, "1")));

        assertThat(store().mailboxes().unread(taken, 0, 1_000)).isEmpty();
        assertThat(reports(run)).containsExactly(new EndReport(taken.id(), null, ""));
    }

    @Test
    void many_mailboxes_are_read_as_one_by_one() {
        List<RunRef> runs = Stream.of("a", "b", "c").map(this::startReady).toList();
        deliver(runs.get(0), mail(NEWS, "1"));
        deliver(runs.get(0), mail(NEWS, "2"));
        deliver(runs.get(1), mail(NEWS, "3"));
        List<Mailboxes.Unread> places = List.of(
                new Mailboxes.Unread(runs.get(0), 0),
                new Mailboxes.Unread(runs.get(0), 1),
                new Mailboxes.Unread(runs.get(1), 0),
                new Mailboxes.Unread(runs.get(2), 0));

        for (int bytes : List.of(1, 1_000)) {
            Map<Mailboxes.Unread, List<Mailboxes.Arrived>> found =
                    store().mailboxes().unread(places, bytes);
            assertThat(found).hasSize(places.size());
            assertThat(places)
                    .allSatisfy(place -> assertThat(found.get(place))
                            .isEqualTo(store().mailboxes().unread(place.run(), place.after(), bytes)));
        }
    }

    @Test
    void a_run_that_reports_is_no_child() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        RunRef fired = fire(worker, run, "fired", STAY);

        assertThat(store().runs().liveChildren(List.of(run))).isEmpty();
        assertThat(store().runs().children(run)).isEmpty();
        command(run, Change.CommandKind.KILL, "why");
        apply(worker, advance(run, 1, new Move.End(RunState.CANCELLED, payload(""), "why")));
        assertThat(stateOf(fired)).isEqualTo(RunState.READY);
        assertThat(apply(worker, advance(claimOne(worker).run(), 1, complete("1"))))
                .isInstanceOf(Outcome.Applied.class);
    }

    @Test
    void many_ends_in_one_batch_report_to_many_runs() {
        WorkerId worker = join();
        int count = 20;
        List<RunRef> runs = IntStream.range(0, count)
                .mapToObj(i -> startOwned(worker, "schedule" + i))
                .toList();
        for (RunRef run : runs) {
            apply(
                    worker,
                    advance(
                            run,
                            1,
                            await(1, EndReport.channel()),
                            List.of(
                                    new Effect.Start(reporting(run.id() + "@1", run)),
                                    new Effect.Start(reporting(run.id() + "@2", run)))));
        }
        List<Claimed> fired = polled(worker, 2 * count).claimed();
        assertThat(fired).hasSize(2 * count);
        store().ledger()
                .apply(
                        new Lane(worker, 0),
                        fired.stream()
                                .<Change>map(each -> advance(each.run(), 1, complete("1")))
                                .toList());

        assertThat(runs).allSatisfy(run -> {
            assertThat(stateOf(run)).isEqualTo(RunState.READY);
            assertThat(reports(run))
                    .extracting(report -> report.run().value())
                    .containsExactlyInAnyOrder(run.id() + "@1", run.id() + "@2");
        });
    }

    @Test
    void a_run_that_is_killed_in_the_memory_of_a_dead_worker_reports_its_end() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        RunRef fired = fire(worker, run, "fired", await(1, EndReport.channel()));
        claimOne(worker);
        command(fired, Change.CommandKind.KILL, "why");
        store().leases().leave(worker);
        store().leases().sweep(100);

        assertThat(reports(run)).containsExactly(new EndReport(fired.id(), RunState.CANCELLED, "why"));
        assertThat(stateOf(run)).isEqualTo(RunState.READY);
    }
}
