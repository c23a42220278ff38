package dev.perdure.testing.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Mailboxes.Address;
import dev.perdure.spi.Mailboxes.Arrived;
import dev.perdure.spi.Mailboxes.Place;
import dev.perdure.spi.Mailboxes.Published;
import dev.perdure.spi.Mailboxes.Shown;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What transitions do beyond their own run. */
public abstract class EffectConformance extends StoreConformance {
    private static final Channel NEWS = Channel.message("news");

    /** For subclasses. */
    protected EffectConformance() {}

    private static NewRun child(String id, RunRef parent, int position, boolean answers) {
        return with(newRun(id), null, new Parent(parent, position, answers));
    }

    private static NewRun with(NewRun run, @Nullable Duration delay, @Nullable Parent parent) {
        return new NewRun(
                run.id(),
                run.definition(),
                run.input(),
                run.seed(),
                run.queue(),
                run.priority(),
                run.version(),
                run.timeout(),
                delay,
                parent);
    }

    private RunRef refOf(String id) {
        return store().runs().find(RunId.of(id)).orElseThrow().ref();
    }

    @Test
    void a_transition_starts_children_and_sends_mail_with_its_entries() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        RunRef other = startReady("other");
        Change.Advance change = advance(
                run,
                1,
                STAY,
                List.of(
                        new Effect.Start(child("child", run, 1, true)),
                        new Effect.Deliver(other.id(), mail(NEWS, "1")),
                        new Effect.Deliver(RunId.of("child"), mail(NEWS, "2"))),
                step(1, "1"));

        assertThat(apply(worker, change)).isInstanceOf(Outcome.Applied.class);
        assertThat(apply(worker, change)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(stateOf(refOf("child"))).isEqualTo(RunState.READY);
        assertThat(unread(other)).containsExactly("1");
        assertThat(unread(refOf("child"))).containsExactly("2");
        assertThat(store().runs().liveChildren(List.of(run))).containsExactly(refOf("child"));
        assertThat(store().runs().children(run)).singleElement().satisfies(child -> {
            assertThat(child.run()).isEqualTo(refOf("child"));
            assertThat(child.after()).isEmpty();
            assertThat(child.history()).hasSize(1);
        });
    }

    @Test
    void a_fenced_transition_has_no_effect() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        RunRef other = startReady("other");
        store().leases().leave(worker);

        for (Move move : List.of(STAY, complete("1"))) {
            List<Effect> effects = List.of(
                    new Effect.Start(child("child", run, 1, true)),
                    new Effect.Deliver(other.id(), mail(NEWS, "1")),
                    new Effect.Publish("progress", 1, payload("1")),
                    new Effect.Cancel(other.id(), "why"));
            assertThat(apply(worker, advance(run, 1, move, effects))).isEqualTo(new Outcome.Fenced());
        }
        assertThat(store().runs().find(RunId.of("child"))).isEmpty();
        assertThat(unread(other)).isEmpty();
        assertThat(stateOf(other)).isEqualTo(RunState.READY);
        assertThat(store().mailboxes().latest(run, "progress")).isEmpty();
    }

    @Test
    void a_transition_under_an_old_epoch_has_no_effect() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        RunRef other = startReady(withDefinition(newRun("other"), "other"));
        apply(worker, advance(run, 1, new Move.Yield()));
        claimOne(worker);

        assertThat(apply(
                        worker,
                        advance(run, 1, complete("1"), List.of(new Effect.Deliver(other.id(), mail(NEWS, "1"))))))
                .isEqualTo(new Outcome.Fenced());
        assertThat(unread(other)).isEmpty();
    }

    @Test
    void an_effect_on_a_run_that_is_not_there_or_over_is_left_out() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        RunRef over = startOwned(worker, "over");
        apply(worker, advance(over, 1, complete("1")));
        List<Effect> effects = List.of(
                new Effect.Deliver(RunId.of("nobody"), mail(NEWS, "1")),
                new Effect.Deliver(over.id(), mail(NEWS, "1")),
                new Effect.Cancel(RunId.of("nobody"), "why"),
                new Effect.Cancel(over.id(), "why"));

        assertThat(apply(worker, advance(run, 1, STAY, effects, step(1, "1")))).isInstanceOf(Outcome.Applied.class);
        assertThat(unread(over)).isEmpty();
        assertThat(stateOf(over)).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void a_childs_outcome_reaches_the_parent_that_waits_for_it() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(
                worker,
                advance(run, 1, await(1, Channel.answer(3)), List.of(new Effect.Start(child("child", run, 3, true)))));
        Claimed child = claimOne(worker);
        assertThat(child.run().id().value()).isEqualTo("child");
        Change.Advance end = advance(child.run(), 1, complete("\"done\""), step(1, "1"));

        assertThat(apply(worker, end)).isInstanceOf(Outcome.Applied.class);
        assertThat(apply(worker, end)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(stateOf(run)).isEqualTo(RunState.READY);
        List<Arrived> mail = store().mailboxes().unread(run, 0, 1_000);
        assertThat(mail).hasSize(1);
        assertThat(mail.getFirst().mail().channel()).isEqualTo(Channel.answer(3));
        assertThat(mail.getFirst().mail().status()).isEqualTo(Entry.Status.VALUE);
        assertThat(mail.getFirst().mail().payload()).isEqualTo(payload("\"done\""));
        assertThat(store().runs().liveChildren(List.of(run))).isEmpty();
        assertThat(store().runs().children(run))
                .extracting(ended -> ended.info().state())
                .containsExactly(RunState.COMPLETED);
    }

    @Test
    void however_a_child_ends_without_a_result_the_parent_is_told_why() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        List<String> ids = List.of("failed", "killed", "never ran", "killed while ready");
        for (int i = 0; i < ids.size(); i++) {
            apply(worker, advance(run, 1, STAY, List.of(new Effect.Start(child(ids.get(i), run, i + 1, true)))));
            if (i < 2) {
                RunRef child = claimOne(worker).run();
                Move end = i == 0
                        ? new Move.End(RunState.FAILED, payload("{}"), "it broke")
                        : new Move.End(RunState.CANCELLED, payload(""), "enough");
                apply(worker, advance(child, 1, end));
            } else {
                command(refOf(ids.get(i)), i == 2 ? Change.Order.CANCEL : Change.Order.KILL, "not wanted");
            }
        }
        assertThat(store().mailboxes().unread(run, 0, 10_000))
                .extracting(arrived -> arrived.mail().channel().position() + " "
                        + arrived.mail().status() + " " + arrived.mail().text())
                .containsExactly(
                        "1 FAILURE FAILED: it broke",
                        "2 FAILURE CANCELLED: enough",
                        "3 FAILURE CANCELLED: not wanted",
                        "4 FAILURE CANCELLED: not wanted");
    }

    @Test
    void a_child_that_is_not_waited_for_tells_nobody() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, STAY, List.of(new Effect.Start(child("child", run, 1, false)))));
        apply(worker, advance(claimOne(worker).run(), 1, complete("1")));

        assertThat(unread(run)).isEmpty();
    }

    @Test
    void a_child_whose_parent_has_ended_ends_all_the_same() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, complete("1"), List.of(new Effect.Start(child("child", run, 1, true)))));
        RunRef child = claimOne(worker).run();

        assertThat(apply(worker, advance(child, 1, complete("1")))).isInstanceOf(Outcome.Applied.class);
        assertThat(stateOf(child)).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void a_parent_and_its_child_that_move_in_one_batch_meet() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, STAY, List.of(new Effect.Start(child("child", run, 1, true)))));
        RunRef child = claimOne(worker).run();

        store().ledger()
                .apply(
                        new Lane(worker, 0),
                        List.of(advance(run, 1, await(1, Channel.answer(1))), advance(child, 1, complete("1"))));
        assertThat(unread(run)).containsExactly("1");
        boolean goesOn =
                stateOf(run) == RunState.READY || !polled(worker, 0).signalled().isEmpty();
        assertThat(goesOn).isTrue();
    }

    @Test
    void a_thousand_children_end_in_one_batch_and_wake_their_parent_once() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        int count = 1_000;
        List<Effect> starts = IntStream.rangeClosed(1, count)
                .<Effect>mapToObj(i -> new Effect.Start(child("child-" + i, run, i, true)))
                .toList();
        Channel[] channels =
                IntStream.rangeClosed(1, count).mapToObj(Channel::answer).toArray(Channel[]::new);
        apply(worker, advance(run, 1, await(count, channels), starts));
        List<Claimed> children = polled(worker, count).claimed();
        assertThat(children).hasSize(count);

        store().ledger()
                .apply(
                        new Lane(worker, 0),
                        children.stream()
                                .<Change>map(child -> advance(child.run(), 1, complete("1")))
                                .toList());
        assertThat(stateOf(run)).isEqualTo(RunState.READY);
        assertThat(changesOf(run)).containsExactly("RUNNING", "SUSPENDED", "READY");
        assertThat(unread(run)).hasSize(count);
    }

    @Test
    void a_child_id_that_is_taken_is_a_failure_of_that_child() {
        WorkerId worker = join();
        RunRef taken = startReady(withDefinition(newRun("taken"), "other"));
        RunRef run = startOwned(worker, "a");
        Change.Advance start =
                advance(run, 1, STAY, List.of(new Effect.Start(child("taken", run, 5, true))), step(1, "1"));

        apply(worker, start);
        apply(worker, start);
        assertThat(store().mailboxes().unread(run, 0, 1_000))
                .extracting(arrived -> arrived.mail().channel() + " "
                        + arrived.mail().status() + " " + arrived.mail().text())
                .containsExactly(Channel.answer(5) + " FAILURE The run id 'taken' is taken.");
        assertThat(unread(taken)).isEmpty();
    }

    @Test
    void a_delayed_start_waits_for_its_time() {
        WorkerId worker = join();
        RunRef run = startReady(with(newRun("a"), Duration.ofMinutes(5), null));

        assertThat(stateOf(run)).isEqualTo(RunState.SUSPENDED);
        assertThat(polled(worker, 10).claimed()).isEmpty();
        assertThat(polled(worker, 10).nextDue()).isEqualTo(BEGINNING.plus(Duration.ofMinutes(5)));
        advance(Duration.ofMinutes(5));
        assertThat(claimOne(worker).epoch()).isEqualTo(Outcome.Started.FIRST_EPOCH);
    }

    @Test
    void a_delayed_start_that_is_cancelled_ends_at_once() {
        RunRef run = startReady(with(newRun("a"), Duration.ofMinutes(5), null));

        command(run, Change.Order.CANCEL, "not wanted");
        assertThat(stateOf(run)).isEqualTo(RunState.CANCELLED);
    }

    @Test
    void an_effect_cancels_as_a_command_does() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        RunRef running = startOwned(worker, "running");
        RunRef waiting = startOwned(worker, "waiting");
        RunRef ready = startReady(withDefinition(newRun("ready"), "other"));
        apply(worker, advance(waiting, 1, sleep(Duration.ofHours(1))));

        apply(
                worker,
                advance(
                        run,
                        1,
                        STAY,
                        List.of(
                                new Effect.Cancel(running.id(), "why"),
                                new Effect.Cancel(waiting.id(), "why"),
                                new Effect.Cancel(ready.id(), "why")),
                        step(1, "1")));
        assertThat(stateOf(ready)).isEqualTo(RunState.CANCELLED);
        assertThat(stateOf(waiting)).isEqualTo(RunState.READY);
        assertThat(claimOne(worker).control().cancel()).isEqualTo("why");
        assertThat(polled(worker, 0).signalled())
                .filteredOn(signal -> signal.run().equals(running))
                .hasSize(1)
                .allSatisfy(signal -> assertThat(signal.control().cancel()).isEqualTo("why"));
    }

    @Test
    void what_a_run_publishes_is_kept_in_order_and_once() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Change.Advance change = advance(
                run,
                1,
                STAY,
                List.of(
                        new Effect.Publish("progress", 1, payload("10")),
                        new Effect.Publish("progress", 2, payload("20")),
                        new Effect.Publish("lines", 3, payload("x"))),
                step(4, "1"));
        apply(worker, change);
        apply(worker, change);
        apply(worker, advance(run, 1, complete("1"), List.of(new Effect.Publish("progress", 5, payload("30")))));

        assertThat(store().mailboxes().published(run, "progress", -1, 100))
                .extracting(Published::payload)
                .containsExactly(payload("10"), payload("20"), payload("30"));
        assertThat(store().mailboxes().published(run, "progress", -1, 2)).hasSize(2);
        long first =
                store().mailboxes().published(run, "progress", -1, 1).getFirst().offset();
        assertThat(store().mailboxes().published(run, "progress", first, 100)).hasSize(2);
        assertThat(store().mailboxes().latest(run, "progress").orElseThrow().payload())
                .isEqualTo(payload("30"));
        assertThat(store().mailboxes().latest(run, "nothing")).isEmpty();
    }

    @Test
    void many_ask_at_once_what_runs_show() {
        WorkerId worker = join();
        RunRef shows = startOwned(worker, "shows");
        RunRef silent = startOwned(worker, "silent");
        RunRef over = startOwned(worker, "over");
        apply(
                worker,
                advance(
                        shows,
                        1,
                        STAY,
                        List.of(
                                new Effect.Publish("progress", 1, payload("10")),
                                new Effect.Publish("progress", 2, payload("20")))));
        apply(worker, advance(over, 1, complete("1"), List.of(new Effect.Publish("progress", 1, payload("90")))));
        Place all = new Place(shows, "progress", 0);
        Place later = new Place(shows, "progress", 1);
        Place last = new Place(over, "progress", 0);
        Place none = new Place(over, "progress", 1);

        Map<Place, Shown> shown = store().mailboxes()
                .published(
                        List.of(
                                all,
                                later,
                                new Place(shows, "progress", 2),
                                new Place(silent, "progress", 0),
                                last,
                                none),
                        100);

        assertThat(shown)
                .containsOnlyKeys(all, later, last, none)
                .hasEntrySatisfying(all, there -> shows(there, false, "10", "20"))
                .hasEntrySatisfying(later, there -> shows(there, false, "20"))
                .hasEntrySatisfying(last, there -> shows(there, true, "90"))
                .hasEntrySatisfying(none, there -> shows(there, true));
        assertThat(store().mailboxes().published(List.of(), 100)).isEmpty();
    }

    private static void shows(Shown there, boolean ended, String... values) {
        assertThat(there.ended()).isEqualTo(ended);
        assertThat(there.values())
                .extracting(Published::payload)
                .containsExactly(Stream.of(values).map(value -> payload(value)).toArray(Payload[]::new));
    }

    @Test
    void an_awakeable_is_found_by_its_hash() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Change.Advance change = advance(run, 1, STAY, List.of(new Effect.Awakeable("hash", 4)), step(1, "1"));
        apply(worker, change);
        apply(worker, change);

        assertThat(store().mailboxes().awakeable("hash")).contains(new Address(run.id(), 4, 0));
        assertThat(store().mailboxes().awakeable("another")).isEmpty();
    }

    @Test
    void an_awakeable_of_the_present_life_is_found_by_its_position() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(
                worker,
                advance(
                        run,
                        1,
                        STAY,
                        List.of(new Effect.Awakeable("hash", 4), new Effect.Subscribe("paid", "", 5)),
                        step(1, "1")));
        assertThat(store().mailboxes().awakeable(run, 4)).contains(new Address(run.id(), 4, 0));
        assertThat(store().mailboxes().awakeable(run, 5)).isEmpty();
        apply(worker, advance(run, 1, new Move.Restart(payload("2"), 77)));
        assertThat(store().mailboxes().awakeable(run, 4)).isEmpty();
    }

    @Test
    void an_operators_answer_is_in_the_history_once_and_only_if_it_arrived() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Mail first = mail(Channel.answer(4), "1");
        Change.Deliver answer = new Change.Deliver(run.id(), first, 0, "anna");
        assertThat(apply(Lane.client(0), answer)).isInstanceOf(Outcome.Applied.class);
        assertThat(apply(Lane.client(0), answer)).isInstanceOf(Outcome.AlreadyThere.class);
        apply(Lane.client(0), new Change.Deliver(run.id(), mail(Channel.answer(4), "2"), 0, "ben"));
        apply(Lane.client(0), new Change.Deliver(run.id(), mail(Channel.answer(5), "2"), 1, "ben"));
        Mail no = Mail.failure(Channel.answer(6), UUID.randomUUID(), "no", Payload.EMPTY);
        apply(Lane.client(0), new Change.Deliver(run.id(), no, 0, "ben"));
        apply(worker, advance(run, 1, new Move.Restart(payload("2"), 77)));
        assertThat(changesOf(run))
                .containsExactlyInAnyOrder(
                        "RUNNING",
                        "AWAKEABLE RESOLVED by operator 'anna'",
                        "AWAKEABLE REJECTED by operator 'ben'",
                        "READY");
    }

    @Test
    void the_secret_of_a_store_is_long_and_stays_the_same() {
        byte[] secret = store().mailboxes().secret();
        assertThat(secret).hasSizeGreaterThanOrEqualTo(32);
        byte[] copy = secret.clone();
        secret[0]++;
        assertThat(store().mailboxes().secret()).isEqualTo(copy);
        assertThat(IntStream.range(0, copy.length).map(i -> copy[i]).distinct().count())
                .isGreaterThan(8);
    }

    @Test
    void an_event_finds_those_who_wait_for_it_with_that_key_or_with_any() {
        WorkerId worker = join();
        RunRef any = startOwned(worker, "any");
        RunRef keyed = startOwned(worker, "keyed");
        RunRef other = startOwned(worker, "other");
        apply(worker, advance(any, 1, STAY, List.of(new Effect.Subscribe("paid", "", 1)), step(1, "1")));
        apply(worker, advance(keyed, 1, STAY, List.of(new Effect.Subscribe("paid", "42", 2)), step(1, "1")));
        apply(worker, advance(other, 1, STAY, List.of(new Effect.Subscribe("sent", "42", 3)), step(1, "1")));
        Address toAny = new Address(any.id(), 1, 0);
        Address toKeyed = new Address(keyed.id(), 2, 0);

        assertThat(store().mailboxes().subscribers("paid", "42")).containsExactlyInAnyOrder(toAny, toKeyed);
        assertThat(store().mailboxes().subscribers("paid", "")).containsExactly(toAny);
        assertThat(store().mailboxes().subscribers("paid", "43")).containsExactly(toAny);

        deliver(keyed, mail(Channel.answer(2), "1"));
        apply(worker, advance(any, 1, complete("1")));
        assertThat(store().mailboxes().subscribers("paid", "42")).isEmpty();
    }

    @Test
    void a_restart_keeps_id_and_messages_and_drops_journal_and_answers() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(
                worker,
                advance(
                        run,
                        1,
                        STAY,
                        List.of(
                                new Effect.Start(child("child", run, 1, true)),
                                new Effect.Awakeable("hash", 2),
                                new Effect.Subscribe("paid", "", 3),
                                new Effect.Publish("progress", 9, payload("1"))),
                        step(5, "1")));
        deliver(run, mail(NEWS, "1"));
        deliver(run, mail(Channel.answer(2), "2"));
        deliver(run, mail(Channel.promise("paid"), "3"));
        Change.Advance restart = advance(run, 1, new Move.Restart(payload("\"again\""), 77), step(6, "1"));

        assertThat(apply(worker, restart)).isEqualTo(new Outcome.Applied(now(), RunState.READY));
        assertThat(apply(worker, restart)).isInstanceOf(Outcome.AlreadyThere.class);
        List<Claimed> claimed = polled(worker, 10).claimed();
        Claimed again = claimed.stream()
                .filter(claim -> claim.run().equals(run))
                .findFirst()
                .orElseThrow();
        assertThat(again.input()).isEqualTo(payload("\"again\""));
        assertThat(again.seed()).isEqualTo(77);
        assertThat(again.epoch()).isGreaterThan(1);
        assertThat(journalOf(run)).isEmpty();
        assertThat(unread(run)).containsExactly("1", "3");
        assertThat(store().mailboxes().awakeable("hash")).isEmpty();
        assertThat(store().mailboxes().subscribers("paid", "")).isEmpty();

        apply(worker, advance(refOf("child"), 1, complete("1")));
        assertThat(unread(run)).containsExactly("1", "3");
        apply(
                worker,
                advance(
                        run,
                        again.epoch(),
                        STAY,
                        List.of(new Effect.Publish("progress", 1, payload("2"))),
                        step(2, "1")));
        assertThat(store().mailboxes().published(run, "progress", -1, 10))
                .extracting(Published::payload)
                .containsExactly(payload("1"), payload("2"));
    }

    @Test
    void an_answer_reaches_the_life_that_asked_and_no_later_one() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(
                worker,
                advance(
                        run,
                        1,
                        STAY,
                        List.of(new Effect.Awakeable("first", 2), new Effect.Subscribe("paid", "", 3)),
                        step(1, "1")));
        Address asked = store().mailboxes().awakeable("first").orElseThrow();
        Address subscribed = store().mailboxes().subscribers("paid", "").getFirst();
        Mail arrived = mail(Channel.answer(9), "before");
        deliver(run, arrived);
        apply(worker, advance(run, 1, new Move.Restart(payload("2"), 77)));
        Claimed again = claimOne(worker);
        List<Effect> asks = List.of(new Effect.Awakeable("second", 2), new Effect.Subscribe("paid", "", 3));
        apply(worker, advance(run, again.epoch(), await(1, Channel.answer(2), Channel.answer(3)), asks));

        Outcome tooLate = new Outcome.Undelivered(Outcome.Undelivered.Why.BEGAN_ANEW);
        assertThat(answer(asked, "late")).isEqualTo(tooLate);
        assertThat(answer(subscribed, "late")).isEqualTo(tooLate);
        assertThat(deliver(run, arrived)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(unread(run)).isEmpty();
        assertThat(stateOf(run)).isEqualTo(RunState.SUSPENDED);

        Address present = store().mailboxes().awakeable("second").orElseThrow();
        assertThat(store().mailboxes().subscribers("paid", ""))
                .containsExactly(new Address(run.id(), 3, present.life()));
        assertThat(store().ledger()
                        .apply(
                                Lane.client(0),
                                List.of(
                                        answering(asked, "late"),
                                        answering(present, "now"),
                                        answering(present, "later"))))
                .satisfiesExactly(
                        late -> assertThat(late).isEqualTo(tooLate),
                        now -> assertThat(now).isInstanceOf(Outcome.Applied.class),
                        later -> assertThat(later).isEqualTo(new Outcome.Undelivered(Outcome.Undelivered.Why.TAKEN)));
        assertThat(unread(run)).containsExactly("now");
        assertThat(stateOf(run)).isEqualTo(RunState.READY);
    }

    /** The store knows short ways to a run that is in memory. */
    @Test
    void an_answer_to_an_earlier_life_does_not_reach_a_run_in_memory() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, STAY, List.of(new Effect.Awakeable("first", 2)), step(1, "1")));
        Address asked = store().mailboxes().awakeable("first").orElseThrow();
        apply(worker, advance(run, 1, new Move.Restart(payload("2"), 77)));
        claimOne(worker);
        for (int i = 0; i < 3; i++) {
            deliver(run, mail(NEWS, "1"));
            assertThat(answer(asked, "late")).isEqualTo(new Outcome.Undelivered(Outcome.Undelivered.Why.BEGAN_ANEW));
        }
        assertThat(unread(run)).containsExactly("1", "1", "1");
    }

    @Test
    void an_answer_that_names_no_life_is_refused() {
        Mail answer = mail(Channel.answer(1), "1");
        assertThatThrownBy(() -> new Change.Deliver(RunId.of("a"), answer))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("An answer is for one life of run 'a'. Name the life of the call that it answers.");
        assertThatThrownBy(() -> new Effect.Deliver(RunId.of("a"), answer))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("An answer to run 'a' is no effect: it is delivered by a change that names its life.");
    }

    private Outcome answer(Address address, String value) {
        return apply(Lane.client(0), answering(address, value));
    }

    private static Change.Deliver answering(Address address, String value) {
        return new Change.Deliver(address.run(), mail(Channel.answer(address.position()), value), address.life());
    }
}
