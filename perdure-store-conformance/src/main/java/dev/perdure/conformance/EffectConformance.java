package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Mailboxes.Arrived;
import dev.perdure.spi.Mailboxes.Place;
import dev.perdure.spi.Mailboxes.Published;
import dev.perdure.spi.Mailboxes.PublishedName;
import dev.perdure.spi.Mailboxes.PublishedPage;
import dev.perdure.spi.Mailboxes.Shown;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a transition does beyond its own run: children, mail, cancels, and what the run publishes. */
public abstract class EffectConformance extends StoreConformance {
    private static final Channel NEWS = Channel.message("news");

    /** For subclasses. */
    protected EffectConformance() {}

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
    void live_runs_below_a_cancelled_child_are_found_in_its_place() {
        WorkerId worker = join();
        RunRef top = startOwned(worker, "top");
        RunRef middle = startChild(worker, top, "middle", 1);
        RunRef lower = startChild(worker, middle, "lower", 1);
        RunRef leaf = startChild(worker, lower, "leaf", 1);
        RunRef beside = startChild(worker, top, "beside", 2);
        assertThat(store().runs().liveChildren(List.of(top))).containsExactlyInAnyOrder(middle, beside);

        Move killed = new Move.End(RunState.CANCELLED, payload(""), "enough");
        apply(worker, advance(top, 1, killed));
        apply(worker, advance(middle, 1, killed));
        assertThat(store().runs().liveChildren(List.of(top))).containsExactlyInAnyOrder(lower, beside);
        apply(worker, advance(lower, 1, killed));
        assertThat(store().runs().liveChildren(List.of(top, middle, lower)))
                .as("each once, although it is below all three")
                .containsExactlyInAnyOrder(leaf, beside);
        apply(worker, advance(leaf, 1, killed));
        assertThat(store().runs().liveChildren(List.of(top))).containsExactly(beside);
    }

    @Test
    void live_runs_below_a_child_that_completed_or_failed_are_not_found() {
        WorkerId worker = join();
        RunRef top = startOwned(worker, "top");
        RunRef completed = startChild(worker, top, "completed", 1);
        RunRef failed = startChild(worker, top, "failed", 2);
        RunRef left = startChild(worker, completed, "left by completed", 1);
        startChild(worker, failed, "left by failed", 1);
        apply(worker, advance(completed, 1, complete("1")));
        apply(worker, advance(failed, 1, new Move.End(RunState.FAILED, payload("{}"), "it broke")));

        assertThat(store().runs().liveChildren(List.of(top))).isEmpty();
        assertThat(store().runs().liveChildren(List.of(completed))).containsExactly(left);
    }

    @Test
    void a_run_that_reports_to_a_cancelled_child_is_not_found_in_its_place() {
        WorkerId worker = join();
        RunRef top = startOwned(worker, "top");
        RunRef middle = startChild(worker, top, "middle", 1);
        apply(
                worker,
                advance(middle, 1, STAY, List.of(new Effect.Start(child("fired", middle, Parent.REPORTS, true)))));
        apply(worker, advance(middle, 1, new Move.End(RunState.CANCELLED, payload(""), "enough")));

        assertThat(stateOf(refOf("fired"))).isEqualTo(RunState.READY);
        assertThat(store().runs().liveChildren(List.of(top))).isEmpty();
    }

    /** Starts a child, which the worker then has. */
    private RunRef startChild(WorkerId worker, RunRef parent, String id, int position) {
        apply(worker, advance(parent, 1, STAY, List.of(new Effect.Start(child(id, parent, position, true)))));
        Claimed child = claimOne(worker);
        assertThat(child.run().id().value()).isEqualTo(id);
        return child.run();
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
                command(refOf(ids.get(i)), i == 2 ? Change.CommandKind.CANCEL : Change.CommandKind.KILL, "not wanted");
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
    void a_child_that_is_not_waited_for_tells_no_run() {
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
        RunRef run = startReady(withDelay(newRun("a"), Duration.ofMinutes(5)));

        assertThat(stateOf(run)).isEqualTo(RunState.SUSPENDED);
        assertThat(polled(worker, 10).claimed()).isEmpty();
        assertThat(polled(worker, 10).nextDue()).isEqualTo(BEGINNING.plus(Duration.ofMinutes(5)));
        advance(Duration.ofMinutes(5));
        assertThat(claimOne(worker).epoch()).isEqualTo(Outcome.Started.FIRST_EPOCH);
    }

    @Test
    void a_delayed_start_that_is_cancelled_ends_at_once() {
        RunRef run = startReady(withDelay(newRun("a"), Duration.ofMinutes(5)));

        command(run, Change.CommandKind.CANCEL, "not wanted");
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

    private PublishedPage progress(RunRef run, long after, int limit, int maxBytes) {
        return store().mailboxes().published(new Place(run, "progress", after), limit, maxBytes);
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

        PublishedPage all = progress(run, -1, 3, 6);
        assertThat(all.last()).isTrue();
        assertThat(all.values())
                .extracting(Published::payload)
                .containsExactly(payload("10"), payload("20"), payload("30"));
        PublishedPage rest = new PublishedPage(all.values().subList(1, 3), true);
        assertThat(progress(run, all.values().getFirst().offset(), 100, 100)).isEqualTo(rest);
        PublishedPage one = new PublishedPage(all.values().subList(0, 1), false);
        assertThat(progress(run, -1, 1, 100)).isEqualTo(one);
        assertThat(progress(run, -1, 100, 1)).isEqualTo(one);
        assertThat(progress(run, -1, 100, 5).values()).hasSize(2);
        assertThat(progress(run, 1_000, 100, 100)).isEqualTo(new PublishedPage(List.of(), true));
        assertThat(store().mailboxes().latest(run, "progress").orElseThrow().payload())
                .isEqualTo(payload("30"));
        assertThat(store().mailboxes().latest(run, "nothing")).isEmpty();
    }

    @Test
    void the_names_under_which_a_run_has_published_are_listed_page_by_page() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        RunRef other = startOwned(worker, "b");
        apply(worker, advance(other, 1, STAY, List.of(new Effect.Publish("other", 1, payload("1"))), step(2, "1")));
        apply(
                worker,
                advance(
                        run,
                        1,
                        STAY,
                        List.of(
                                new Effect.Publish("progress", 1, payload("10")),
                                new Effect.Publish("lines", 2, payload("x")),
                                new Effect.Publish("progress", 3, payload("20")),
                                new Effect.Publish("\uD83D\uDE80", 4, payload("x")),
                                new Effect.Publish("\uFF5E", 5, payload("x"))),
                        step(6, "1")));

        assertThat(store().mailboxes().publishedNames(run, "", 10))
                .extracting(PublishedName::name)
                .containsExactly("lines", "progress", "\uFF5E", "\uD83D\uDE80");
        PublishedName progress =
                store().mailboxes().publishedNames(run, "lines", 1).getFirst();
        Published latest = store().mailboxes().latest(run, "progress").orElseThrow();
        assertThat(progress).isEqualTo(new PublishedName("progress", 2, latest.offset(), latest.at()));
        assertThat(store().mailboxes().publishedNames(run, "\uD83D\uDE80", 10)).isEmpty();
        assertThat(store().mailboxes().publishedNames(startReady("c"), "", 10)).isEmpty();
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
                        100,
                        1_000);

        assertThat(shown)
                .containsOnlyKeys(all, later, last, none)
                .hasEntrySatisfying(all, there -> shows(there, false, "10", "20"))
                .hasEntrySatisfying(later, there -> shows(there, false, "20"))
                .hasEntrySatisfying(last, there -> shows(there, true, "90"))
                .hasEntrySatisfying(none, there -> shows(there, true));
        assertThat(store().mailboxes().published(List.of(), 100, 1_000)).isEmpty();
        assertThat(store().mailboxes().published(List.of(all, last), 100, 3))
                .as("at least one value for each place, and no more than fit")
                .hasEntrySatisfying(all, there -> shows(there, false, "10"))
                .hasEntrySatisfying(last, there -> shows(there, true, "90"));
        assertThat(store().mailboxes().published(List.of(all), 1, 1_000))
                .hasEntrySatisfying(all, there -> shows(there, false, "10"));
        assertThat(store().mailboxes().published(List.of(all), 100, 1))
                .hasEntrySatisfying(all, there -> shows(there, false, "10"));
    }

    private static void shows(Shown there, boolean ended, String... values) {
        assertThat(there.ended()).isEqualTo(ended);
        assertThat(there.values())
                .extracting(Published::payload)
                .containsExactly(Stream.of(values).map(value -> payload(value)).toArray(Payload[]::new));
    }
}
