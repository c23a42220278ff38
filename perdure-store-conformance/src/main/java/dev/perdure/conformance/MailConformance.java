package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Signalled;
import dev.perdure.spi.Mailboxes.Arrived;
import dev.perdure.spi.Mailboxes.Promised;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Outcome.Undelivered.Why;
import dev.perdure.spi.change.Awaited;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What reaches runs from elsewhere, and how it wakes them. */
public abstract class MailConformance extends StoreConformance {
    private static final Channel NEWS = Channel.message("news");

    /** For subclasses. */
    protected MailConformance() {}

    @Test
    void mail_is_kept_in_order_for_a_run_in_any_state() {
        WorkerId worker = join();
        RunRef ready = startReady("ready");
        RunRef running = startOwned(worker, "running");
        RunRef waiting = startOwned(worker, "waiting");
        RunRef paused = startOwned(worker, "paused");
        apply(worker, advance(waiting, 1, sleep(Duration.ofHours(1))));
        apply(worker, advance(paused, 1, new Move.Pause("held")));

        for (RunRef run : List.of(ready, running, waiting, paused)) {
            assertThat(deliver(run, mail(NEWS, "1"))).isInstanceOf(Outcome.Applied.class);
            assertThat(deliver(run, mail(NEWS, "2"))).isInstanceOf(Outcome.Applied.class);
            assertThat(unread(run)).containsExactly("1", "2");
        }
        assertThat(stateOf(ready)).isEqualTo(RunState.READY);
        assertThat(stateOf(running)).isEqualTo(RunState.RUNNING);
        assertThat(stateOf(waiting)).isEqualTo(RunState.SUSPENDED);
        assertThat(stateOf(paused)).isEqualTo(RunState.PAUSED);
    }

    @Test
    void a_start_brings_its_first_mail() {
        Outcome outcome =
                apply(Lane.client(0), new Change.Start(newRun("a"), null, List.of(mail(NEWS, "1"), mail(NEWS, "2"))));
        RunRef run = ((Outcome.Started) outcome).run();

        assertThat(unread(run)).containsExactly("1", "2");
        assertThat(claimOne(join()).control().mails()).isEqualTo(2);
    }

    @Test
    void mail_arrives_with_its_headers() {
        WorkerId worker = join();
        Map<String, String> headers = Map.of("tenant", "acme", "traceparent", "00-1-2=3");
        RunRef sender = startOwned(worker, "sender");
        RunRef running = startOwned(worker, "running");
        Outcome started = apply(
                Lane.client(0),
                new Change.Start(newRun("new"), null, List.of(mail(NEWS, "1").withHeaders(headers))));
        RunRef born = ((Outcome.Started) started).run();

        deliver(running, mail(NEWS, "1").withHeaders(headers));
        deliver(running, mail(NEWS, "2"));
        deliver(running, mail(Channel.promise("paid"), "3").withHeaders(headers));
        apply(
                worker,
                advance(
                        sender,
                        1,
                        STAY,
                        List.of(new Effect.Deliver(running.id(), mail(NEWS, "4").withHeaders(headers)))));

        assertThat(store().mailboxes().unread(running, 0, 1_000))
                .extracting(arrived -> arrived.mail().headers())
                .containsExactly(headers, Map.of(), headers, headers);
        assertThat(store().mailboxes().unread(born, 0, 1_000))
                .extracting(arrived -> arrived.mail().headers())
                .containsExactly(headers);
        assertThat(store().mailboxes().promise(running, "paid"))
                .hasValueSatisfying(mail -> assertThat(mail.headers()).isEqualTo(headers));
    }

    @Test
    void many_mails_of_one_batch_keep_their_order_whichever_runs_they_are_for() {
        RunRef a = startReady("a");
        RunRef b = startReady("b");
        List<Change> changes = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            changes.add(new Change.Deliver(a.id(), mail(NEWS, "a" + i)));
            changes.add(new Change.Deliver(b.id(), mail(NEWS, "b" + i)));
        }

        assertThat(store().ledger().apply(Lane.client(0), changes)).hasOnlyElementsOfType(Outcome.Applied.class);
        assertThat(unread(a))
                .containsExactlyElementsOf(
                        IntStream.range(0, 50).mapToObj(i -> "a" + i).toList());
        assertThat(unread(b))
                .containsExactlyElementsOf(
                        IntStream.range(0, 50).mapToObj(i -> "b" + i).toList());
    }

    @Test
    void mail_sent_twice_arrives_once_even_if_it_was_taken_in_between() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Mail mail = mail(NEWS, "1");

        deliver(run, mail);
        assertThat(deliver(run, mail)).isInstanceOf(Outcome.AlreadyThere.class);
        apply(worker, advance(run, 1, STAY, List.of(new Effect.Take(1)), step(1, "1")));
        assertThat(deliver(run, mail)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(unread(run)).isEmpty();
    }

    @Test
    void the_same_mail_twice_in_one_batch_arrives_once() {
        RunRef run = startReady("a");
        Mail mail = mail(NEWS, "1");

        store().ledger()
                .apply(Lane.client(0), List.of(new Change.Deliver(run.id(), mail), new Change.Deliver(run.id(), mail)));
        assertThat(unread(run)).containsExactly("1");
    }

    @Test
    void mail_is_read_in_pages_from_after_a_number() {
        RunRef run = startReady("a");
        IntStream.range(0, 5).forEach(i -> deliver(run, mail(NEWS, "0123456789")));

        assertThat(store().mailboxes().unread(run, 0, 25))
                .extracting(Arrived::number)
                .containsExactly(1L, 2L);
        assertThat(store().mailboxes().unread(run, 2, 1))
                .extracting(Arrived::number)
                .containsExactly(3L);
        assertThat(store().mailboxes().unread(run, 5, 100)).isEmpty();
    }

    @Test
    void a_held_run_is_signalled_and_its_wait_finds_out() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        deliver(run, mail(NEWS, "1"));

        List<Signalled> signalled = polled(worker, 0).signalled();
        assertThat(signalled).hasSize(1);
        assertThat(signalled.getFirst().control().mails()).isEqualTo(1);
        assertThat(apply(worker, advance(run, 1, await(1, NEWS))))
                .isInstanceOfSatisfying(
                        Outcome.Woken.class,
                        woken -> assertThat(woken.control().mails()).isEqualTo(1));
    }

    @Test
    void only_awaited_mail_wakes_a_waiting_run() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, await(1, NEWS, Channel.answer(7), Channel.promise("paid"))));
        assertThat(stateOf(run)).isEqualTo(RunState.SUSPENDED);

        deliver(run, mail(Channel.message("other"), "1"));
        deliver(run, mail(Channel.answer(8), "2"));
        deliver(run, mail(Channel.promise("news"), "3"));
        assertThat(stateOf(run)).isEqualTo(RunState.SUSPENDED);
        assertThat(polled(worker, 10).claimed()).isEmpty();

        deliver(run, mail(Channel.answer(7), "4"));
        assertThat(stateOf(run)).isEqualTo(RunState.READY);
        Claimed claimed = claimOne(worker);
        assertThat(claimed.run()).isEqualTo(run);
        assertThat(claimed.control().mails()).isEqualTo(4);
        assertThat(unread(run)).containsExactly("1", "2", "3", "4");
    }

    @Test
    void a_run_that_waits_for_several_goes_on_when_the_last_has_come() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, await(3, Channel.answer(1), Channel.answer(2), Channel.answer(5))));

        deliver(run, mail(Channel.answer(5), "5"));
        deliver(run, mail(Channel.answer(9), "9"));
        deliver(run, mail(Channel.answer(1), "1"));
        assertThat(stateOf(run)).isEqualTo(RunState.SUSPENDED);
        deliver(run, mail(Channel.answer(2), "2"));
        assertThat(stateOf(run)).isEqualTo(RunState.READY);
    }

    @Test
    void a_run_that_waits_for_several_goes_on_when_one_batch_brings_them_all() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, await(3, Channel.answer(1), Channel.answer(2), Channel.answer(3))));

        store().ledger()
                .apply(
                        Lane.client(0),
                        IntStream.rangeClosed(1, 3)
                                .<Change>mapToObj(i -> delivery(run, mail(Channel.answer(i), "x")))
                                .toList());
        assertThat(stateOf(run)).isEqualTo(RunState.READY);
    }

    @Test
    void a_failure_lets_a_run_that_waits_for_several_go_on_at_once() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, await(3, Channel.answer(1), Channel.answer(2), Channel.answer(3))));

        deliver(run, Mail.failure(Channel.answer(2), UUID.randomUUID(), "it broke", payload("{}")));
        assertThat(stateOf(run)).isEqualTo(RunState.READY);
    }

    @Test
    void a_wait_for_mail_and_time_ends_with_whichever_comes_first() {
        WorkerId worker = join();
        Awaited news = new Awaited(Set.of(NEWS), 1);
        RunRef byMail = startOwned(worker, "by mail");
        RunRef byTime = startOwned(worker, "by time");
        for (RunRef run : List.of(byMail, byTime)) {
            apply(
                    worker,
                    advance(run, 1, new Move.Wait(RunState.SUSPENDED, new Due.In(Duration.ofMinutes(1)), news, 0)));
        }
        deliver(byMail, mail(NEWS, "1"));
        assertThat(claimOne(worker).run()).isEqualTo(byMail);

        advance(Duration.ofMinutes(1));
        assertThat(claimOne(worker).run()).isEqualTo(byTime);
        deliver(byTime, mail(NEWS, "late"));
        assertThat(unread(byTime)).containsExactly("late");
    }

    @Test
    void a_wait_without_a_due_time_is_no_timer() {
        WorkerId worker = join();
        apply(worker, advance(startOwned(worker, "a"), 1, await(1, NEWS)));

        assertThat(polled(worker, 10).nextDue()).isNull();
        advance(Duration.ofDays(10_000));
        assertThat(polled(worker, 10).claimed()).isEmpty();
    }

    @Test
    void a_wait_forgets_what_an_earlier_one_waited_for() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, await(1, NEWS)));
        deliver(run, mail(NEWS, "1"));
        claimOne(worker);
        apply(worker, advance(run, 2, sleep(Duration.ofHours(1))));

        deliver(run, mail(NEWS, "2"));
        assertThat(stateOf(run)).isEqualTo(RunState.SUSPENDED);
    }

    @Test
    void a_promise_is_resolved_once() {
        RunRef run = startReady("a");
        Mail first = mail(Channel.promise("paid"), "1");
        assertThat(store().mailboxes().promise(run, "paid")).isEmpty();

        assertThat(deliver(run, first)).isInstanceOf(Outcome.Applied.class);
        assertThat(deliver(run, first)).isInstanceOf(Outcome.AlreadyThere.class);
        Mail second = mail(Channel.promise("paid"), "2");
        assertThat(deliver(run, second)).isEqualTo(new Outcome.Undelivered(Why.TAKEN));
        assertThat(deliver(run, second)).isEqualTo(new Outcome.Undelivered(Why.TAKEN));
        assertThat(deliver(run, mail(Channel.promise("shipped"), "3"))).isInstanceOf(Outcome.Applied.class);
        assertThat(store().mailboxes().promise(run, "paid")).contains(first);
        assertThat(unread(run)).containsExactly("1", "3");
    }

    @Test
    void a_resolved_promise_can_be_looked_at_after_it_was_taken_and_after_the_end() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Mail mail = mail(Channel.promise("paid"), "1");
        deliver(run, mail);
        apply(worker, advance(run, 1, complete("1"), List.of(new Effect.Take(1)), step(1, "1")));

        assertThat(unread(run)).isEmpty();
        assertThat(store().mailboxes().promise(run, "paid")).contains(mail);
    }

    @Test
    void mail_for_an_ended_or_unknown_run_is_not_delivered() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        RunRef neighbour = startOwned(worker, "b");
        apply(worker, advance(run, 1, complete("1")));

        List<Outcome> outcomes = store().ledger()
                .apply(
                        Lane.client(0),
                        List.of(
                                new Change.Deliver(run.id(), mail(NEWS, "1")),
                                new Change.Deliver(RunId.of("nobody"), mail(NEWS, "1")),
                                new Change.Deliver(neighbour.id(), mail(NEWS, "1"))));
        assertThat(outcomes.get(0)).isEqualTo(new Outcome.Undelivered(Why.ENDED));
        assertThat(outcomes.get(1)).isEqualTo(new Outcome.UnknownRun());
        assertThat(outcomes.get(2)).isInstanceOf(Outcome.Applied.class);
    }

    /** A sender whose answer was lost sends again, and its mail may have been the one that let the run end. */
    @Test
    void mail_that_has_arrived_is_still_known_when_its_run_has_ended() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        List<Change> arrived = List.of(
                delivery(run, mail(NEWS, "1")),
                delivery(run, mail(Channel.promise("paid"), "2")),
                delivery(run, mail(Channel.answer(7), "3")));
        Change taken = delivery(run, mail(NEWS, "0"));
        apply(Lane.client(0), taken);
        store().ledger().apply(Lane.client(0), arrived);
        apply(worker, advance(run, 1, complete("1"), List.of(new Effect.Take(1)), step(1, "1")));

        assertThat(apply(Lane.client(0), taken)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(store().ledger().apply(Lane.client(0), arrived)).hasOnlyElementsOfType(Outcome.AlreadyThere.class);
        Change late = delivery(run, mail(NEWS, "4"));
        assertThat(store().ledger().apply(Lane.client(0), List.of(late, late)))
                .containsOnly(new Outcome.Undelivered(Why.ENDED));
    }

    @Test
    void many_ask_at_once_for_promises() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        RunRef other = startOwned(worker, "b");
        Mail paid = mail(Channel.promise("paid"), "1");
        Mail sent = mail(Channel.promise("sent"), "2");
        deliver(run, paid);
        deliver(other, sent);
        assertThat(store().mailboxes()
                        .promises(List.of(
                                new Promised(run, "paid"), new Promised(run, "sent"), new Promised(other, "sent"))))
                .isEqualTo(Map.of(new Promised(run, "paid"), paid, new Promised(other, "sent"), sent));
        assertThat(store().mailboxes().promises(List.of())).isEmpty();
    }
}
