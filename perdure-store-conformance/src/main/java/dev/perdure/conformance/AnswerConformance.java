package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Mailboxes.Address;
import dev.perdure.spi.Mailboxes.Place;
import dev.perdure.spi.Mailboxes.Published;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** How answers reach a run: awakeables, events, and which life of the run an answer is for. */
public abstract class AnswerConformance extends StoreConformance {
    private static final Channel NEWS = Channel.message("news");

    /** For subclasses. */
    protected AnswerConformance() {}

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
    void an_event_finds_the_runs_that_wait_for_it_with_that_key_or_with_any() {
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
        assertThat(store().mailboxes()
                        .published(new Place(run, "progress", -1), 10, 100)
                        .values())
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

    @Test
    void an_answer_that_reached_an_earlier_life_is_known_although_the_present_one_has_an_answer_there() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Mail first = mail(Channel.answer(2), "first");
        deliver(run, first);
        apply(worker, advance(run, 1, new Move.Restart(payload("2"), 77)));
        Claimed again = claimOne(worker);
        List<Effect> asks = List.of(new Effect.Awakeable("second", 2));
        apply(worker, advance(run, again.epoch(), STAY, asks, step(1, "1")));
        answer(store().mailboxes().awakeable("second").orElseThrow(), "second");

        assertThat(deliver(run, first)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(unread(run)).containsExactly("second");
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
