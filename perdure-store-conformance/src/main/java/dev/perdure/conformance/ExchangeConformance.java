package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.perdure.RunCount;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs.BelowPage;
import dev.perdure.spi.Runs.BelowPlace;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.EndReport;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectCall.Hold;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.shard.CallWaits;
import dev.perdure.spi.shard.CallWaits.Life;
import dev.perdure.spi.shard.CallWaits.Reason;
import dev.perdure.spi.shard.CallWaits.Wait;
import dev.perdure.spi.shard.Exchange;
import dev.perdure.spi.shard.Exchange.Lived;
import dev.perdure.spi.shard.Exchange.Membership;
import dev.perdure.spi.shard.Links;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.spi.shard.RunSelection;
import dev.perdure.spi.shard.ShardMap;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which of several shards a store is, and what it keeps for the others. */
public abstract class ExchangeConformance extends StoreConformance {
    /** For subclasses. */
    protected ExchangeConformance() {}

    private Exchange exchange() {
        return store().exchange().orElseThrow();
    }

    @Test
    void a_membership_that_was_stored_is_not_replaced() {
        assertThat(exchange().membership()).isEmpty();
        Membership first = new Membership("b", ShardMap.first(List.of("a", "b", "c")));
        assertThat(exchange().join(first)).isEqualTo(first);
        Membership second = new Membership("x", ShardMap.first(List.of("x")));
        assertThat(exchange().join(second)).isEqualTo(first);
        assertThat(exchange().membership()).contains(first);
    }

    @Test
    void a_map_is_told_to_those_who_have_an_older_one() {
        assertThat(exchange().newerMap(0)).isEmpty();
        ShardMap map = ShardMap.first(List.of("a", "b"));
        exchange().join(new Membership("b", map));
        assertThat(exchange().newerMap(0)).contains(map);
        assertThat(exchange().newerMap(ShardMap.FIRST)).isEmpty();
    }

    @Test
    void a_shard_that_has_no_partitions_joins_again() {
        Membership first = new Membership("b", ShardMap.first(List.of("a", "b")));
        assertThat(exchange().join(first)).isEqualTo(first);
        assertThat(exchange().join(new Membership("b", ShardMap.first(List.of("a")))))
                .isEqualTo(first);
    }

    @Test
    void the_low_byte_of_a_key_is_the_partition_of_the_id_whatever_started_the_run() {
        WorkerId worker = join();
        RunRef root = startOwned(worker, "root");
        apply(
                worker,
                new Change.Advance(
                        root,
                        1,
                        List.of(step(1, "1")),
                        List.of(
                                new Effect.Start(child("root/1-abc", root, 1, true)),
                                new Effect.Start(child("chosen", root, 2, true)),
                                new Effect.Start(child("spawned", root, 3, false))),
                        STAY));
        for (String id : List.of("root", "root/1-abc", "chosen", "spawned")) {
            assertThat(Partitions.ofKey(refOf(id).key())).isEqualTo(Partitions.of(RunId.of(id)));
        }
        assertThat(Partitions.of(RunId.of("root/1-abc"))).isEqualTo(Partitions.of(RunId.of("root")));
    }

    private static final List<Integer> ALL =
            IntStream.range(0, Partitions.COUNT).boxed().toList();

    private List<Exchange.Content> underWay() {
        return exchange().outgoing(ALL, 0, 100).stream()
                .map(Exchange.Outgoing::content)
                .toList();
    }

    private static Effect.Send send(String text, int partition) {
        return new Effect.Send(
                UUID.nameUUIDFromBytes(payload(text).bytes()), partition, payload(text), payload("value of " + text));
    }

    private static Exchange.Content sent(String text) {
        return new Exchange.Content.Sent(payload(text), payload("value of " + text), 0);
    }

    private void joinShards() {
        exchange().join(new Membership("a", ShardMap.first(List.of("a", "b"))));
    }

    @Test
    void what_a_transition_sends_is_kept_once_and_in_order_until_it_is_removed() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "sender");
        Change.Advance first = advance(run, 1, STAY, List.of(send("b", 7), send("a", 9)), step(1, "1"));
        apply(worker, first);
        apply(worker, first);
        apply(worker, advance(run, 1, sleep(Duration.ofHours(1)), List.of(send("c", 7)), step(2, "2")));
        assertThat(underWay()).containsExactly(sent("b"), sent("a"), sent("c"));
        assertThat(exchange().outgoing(List.of(7), 0, 100))
                .extracting(Exchange.Outgoing::content)
                .containsExactly(sent("b"), sent("c"));
        assertThat(exchange().outgoing(ALL, 0, 2)).hasSize(2);
        exchange()
                .remove(exchange().outgoing(ALL, 0, 2).stream()
                        .map(Exchange.Outgoing::number)
                        .toList());
        assertThat(underWay()).containsExactly(sent("c"));
    }

    @Test
    void the_process_that_keeps_something_is_told_and_only_then() {
        joinShards();
        List<Hints.Hint> heard = Collections.synchronizedList(new ArrayList<>());
        Hints.OutgoingKept kept = new Hints.OutgoingKept();
        WorkerId worker = join();
        RunRef run = startOwned(worker, "sender");
        RunRef child = startOwned(worker, childOf("child", elsewhere(4)));
        RunRef killed = startOwned(worker, childOf("killed", elsewhere(5)));
        RunRef other = startOwned(worker, child("local", run, 1, true));
        try (Hints.Subscription subscription = store().hints().subscribe(heard::add)) {
            assertThat(subscription).isNotNull();
            apply(worker, advance(run, 1, STAY, List.of(), step(1, "1")));
            apply(worker, advance(other, 1, complete("1")));
            assertThat(heard).doesNotContain(kept);
            apply(worker, advance(run, 1, STAY, List.of(send("a", 7)), step(2, "2")));
            assertThat(heard).containsOnlyOnce(kept);
            apply(worker, advance(child, 1, complete("1")));
            assertThat(Collections.frequency(heard, kept)).isEqualTo(2);
            command(killed, Change.CommandKind.KILL, "enough");
            store().leases().leave(worker);
            store().leases().sweep(10);
            assertThat(Collections.frequency(heard, kept)).isEqualTo(3);
        }
    }

    @Test
    void a_look_shows_what_is_on_its_way_and_the_version_of_the_map() {
        assertThat(exchange().look(ALL, 10)).isEqualTo(new Exchange.Look(0, List.of()));
        joinShards();
        assertThat(exchange().look(ALL, 10)).isEqualTo(new Exchange.Look(ShardMap.FIRST, List.of()));
        WorkerId worker = join();
        RunRef run = startOwned(worker, "sender");
        apply(worker, advance(run, 1, STAY, List.of(send("a", 7), send("b", 9), send("c", 7)), step(1, "1")));
        List<Exchange.Outgoing> ofSeven = exchange().outgoing(List.of(7), 0, 10);
        assertThat(ofSeven).hasSize(2);
        assertThat(exchange().look(List.of(7), 10)).isEqualTo(new Exchange.Look(ShardMap.FIRST, ofSeven));
        assertThat(exchange().look(List.of(7), 1)).isEqualTo(new Exchange.Look(ShardMap.FIRST, ofSeven.subList(0, 1)));
        assertThat(exchange().look(List.of(), 10)).isEqualTo(new Exchange.Look(ShardMap.FIRST, List.of()));
    }

    @Test
    void what_is_on_its_way_is_read_page_by_page_in_the_order_of_all_partitions() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "sender");
        List<Effect> sends = IntStream.range(0, 7)
                .<Effect>mapToObj(i -> send("s" + i, i % 3))
                .toList();
        apply(worker, advance(run, 1, STAY, sends, step(1, "1")));
        List<Exchange.Outgoing> all = exchange().outgoing(List.of(0, 1), 0, 100);
        assertThat(all)
                .extracting(Exchange.Outgoing::content)
                .containsExactly(sent("s0"), sent("s1"), sent("s3"), sent("s4"), sent("s6"));
        List<Exchange.Outgoing> page = exchange().outgoing(List.of(0, 1), 0, 2);
        assertThat(page).isEqualTo(all.subList(0, 2));
        assertThat(exchange().outgoing(List.of(0, 1), page.getLast().number(), 100))
                .isEqualTo(all.subList(2, 5));
    }

    @Test
    void a_kill_finds_what_is_below_cancelled_runs() {
        WorkerId worker = join();
        RunRef root = startOwned(worker, "root");
        List<Effect> starts = List.of(
                new Effect.Start(child("root/cancelled", root, 1, true)),
                new Effect.Start(child("root/completed", root, 2, true)));
        apply(worker, advance(root, 1, STAY, starts, step(3, "3")));
        for (Claimed claimed : polled(worker, 10).claimed()) {
            RunRef run = claimed.run();
            List<Effect> below = List.of(new Effect.Start(child(run.id() + "/below", run, 1, true)));
            apply(worker, advance(run, claimed.epoch(), STAY, below, step(2, "2")));
            Move end = run.id().value().equals("root/cancelled")
                    ? new Move.End(RunState.CANCELLED, Payload.EMPTY, "enough")
                    : complete("1");
            apply(worker, advance(run, claimed.epoch(), end));
        }
        assertThat(exchange().below(List.of(root)))
                .containsExactlyInAnyOrder(
                        new Lived(root, 0, RunState.RUNNING),
                        new Lived(refOf("root/cancelled"), 0, RunState.CANCELLED),
                        new Lived(refOf("root/cancelled/below"), 0, RunState.READY));
    }

    @Test
    void a_fenced_transition_sends_nothing() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "sender");
        assertThat(apply(worker, advance(run, 7, sleep(Duration.ofHours(1)), List.of(send("a", 7)))))
                .isInstanceOf(Outcome.Fenced.class);
        assertThat(apply(new WorkerId(UUID.randomUUID()), advance(run, 1, STAY, List.of(send("a", 7)), step(1, "1"))))
                .isInstanceOf(Outcome.Fenced.class);
        assertThat(underWay()).isEmpty();
    }

    private static NewRun childOf(String id, Parent parent) {
        return newRun(id).withParent(parent);
    }

    private static Parent elsewhere(int position) {
        return new Parent(new RunRef(RunId.of("caller"), 77 * 256 + 5), position, true, 3);
    }

    /** The parent that is elsewhere, in one of its lives. */
    private static Lived caller(int life) {
        return new Lived(elsewhere(4).run(), life, RunState.RUNNING);
    }

    private Exchange.Content.Told told(RunRef child, NewRun run, Mail mail, int life) {
        UUID token = new UUID(child.key(), run.seed());
        return new Exchange.Content.Told(
                RunId.of("caller"),
                new Mail(mail.channel(), token, mail.status(), mail.text(), mail.payload(), mail.headers()),
                life);
    }

    @Test
    void the_outcome_of_a_run_whose_parent_is_elsewhere_is_kept_for_it() {
        joinShards();
        WorkerId worker = join();
        NewRun first = childOf("first", elsewhere(4));
        RunRef completed = startOwned(worker, first);
        assertThat(exchange().parent(RunId.of("first"))).contains(elsewhere(4));
        assertThat(exchange().children(List.of(caller(3)))).containsExactly(new Lived(completed, 0, RunState.RUNNING));
        assertThat(exchange().children(List.of(caller(2)))).isEmpty();
        assertThat(underWay()).isEmpty();
        Change.Advance end = advance(completed, 1, complete("42"));
        apply(worker, end);
        apply(worker, end);
        Mail value = Mail.value(Channel.answer(4), new UUID(0, 0), payload("42"));
        assertThat(underWay()).containsExactly(told(completed, first, value, 3));
        assertThat(exchange().children(List.of(caller(3)))).isEmpty();
    }

    private List<String> selected(RunFilter filter, long parent, long schedule, List<Long> roots) {
        RunSelection selection = new RunSelection(filter, new RunSelection.Origins(parent, schedule, roots));
        List<RunInfo> listed = store().runs().list(selection);
        assertThat(store().runs().count(selection).values().stream()
                        .mapToInt(RunCount::runs)
                        .sum())
                .isEqualTo(listed.size());
        assertThat(store().statistics().newest(selection, Duration.ofDays(1), 100))
                .extracting(seen -> seen.run().id())
                .containsExactlyInAnyOrderElementsOf(
                        listed.stream().map(RunInfo::id).toList());
        return listed.stream().map(run -> run.id().value()).toList();
    }

    @Test
    void filters_by_parent_root_and_schedule_find_what_runs_of_other_shards_have_started() {
        joinShards();
        WorkerId worker = join();
        RunId caller = RunId.of("caller");
        long key = elsewhere(1).run().key();
        RunRef child = startOwned(worker, childOf("child", elsewhere(1)));
        apply(worker, advance(child, 1, STAY, List.of(new Effect.Start(child("child/below", child, 1, true)))));
        startReady(childOf("reporting", elsewhere(Parent.REPORTS)));
        startReady(newRun("other"));

        RunFilter ofParent = RunFilter.all().parent(caller);
        assertThat(selected(ofParent, key, 0, List.of())).containsExactly("child");
        assertThat(selected(ofParent, 0, 0, List.of())).isEmpty();
        assertThat(selected(RunFilter.all().parent(child.id()), child.key(), 0, List.of()))
                .containsExactly("child/below");
        assertThat(selected(RunFilter.all().schedule("nightly"), 0, key, List.of()))
                .containsExactly("reporting");
        RunFilter ofRoot = RunFilter.all().root(caller);
        assertThat(selected(ofRoot, 0, 0, List.of(child.key()))).containsExactlyInAnyOrder("child", "child/below");
        assertThat(selected(ofRoot.idPrefix("child/"), 0, 0, List.of(child.key())))
                .containsExactly("child/below");
        assertThat(selected(ofRoot, 0, 0, List.of())).isEmpty();

        Links links = exchange().links();
        assertThat(links.startedBy(List.of(1L, key))).containsExactly(child.key());
        assertThat(links.tree(List.of(child.key(), key)))
                .containsExactlyInAnyOrder(child.key(), refOf("child/below").key());
        assertThat(links.life(child)).hasValue(0);
        assertThat(links.life(elsewhere(1).run())).isEmpty();
    }

    @Test
    void children_of_a_run_of_another_shard_are_read_in_pages_oldest_first() {
        joinShards();
        WorkerId worker = join();
        List<String> ids = new ArrayList<>();
        for (int i = 1; i <= 5; i++) {
            ids.add("child-" + i);
            startOwned(worker, childOf("child-" + i, elsewhere(i)));
            advance(Duration.ofMillis(i % 2));
        }
        startReady(childOf("reporting", elsewhere(Parent.REPORTS)));
        Links links = exchange().links();
        RunRef caller = elsewhere(1).run();
        assertThat(links.children(caller, 3))
                .extracting(row -> row.run().id().value())
                .containsExactlyElementsOf(ids);
        assertThat(links.children(caller, 2)).isEmpty();
        List<String> read = new ArrayList<>();
        Optional<BelowPlace> next = Optional.of(BelowPlace.FIRST);
        while (next.isPresent()) {
            BelowPage page = links.children(caller, 3, next.get(), 2);
            assertThat(page.runs()).hasSizeLessThanOrEqualTo(2);
            page.runs().forEach(below -> read.add(below.run().id().value()));
            next = page.next();
        }
        assertThat(read).containsExactlyElementsOf(ids);
        assertThat(links.children(caller, 2, BelowPlace.FIRST, 2))
                .isEqualTo(new BelowPage(List.of(), Optional.empty()));
    }

    private static NewRun call(String id, String object, @Nullable Parent parent) {
        return newRun(id)
                .on(new ObjectCall(new ObjectKey("cart", object), Hold.EXCLUSIVE))
                .withParent(parent);
    }

    @Test
    void waits_for_turns_and_for_called_runs_are_shown_with_the_lives_of_both() {
        joinShards();
        WorkerId worker = join();
        Parent across = elsewhere(4);
        RunRef holder = startOwned(worker, call("holder", "user-1", across));
        RunRef called = startOwned(worker, child("called", holder, 1, true));
        startOwned(worker, child("sent", holder, 2, false));
        startReady(childOf("reporting", elsewhere(Parent.REPORTS)));
        RunRef waiting = startReady(call("waiting", "user-1", new Parent(startOwned(worker, "caller"), 1, true)));
        RunRef caller = refOf("caller");
        CallWaits waits = exchange().waits();

        assertThat(waits.of(List.of(across.run().key()))).singleElement().satisfies(wait -> {
            assertThat(wait.by()).isEqualTo(new Life(across.run().key(), 3));
            assertThat(wait.reason()).isEqualTo(Reason.CALL_ACROSS);
            assertThat(wait.on().run()).isEqualTo(holder);
            assertThat(wait.on().object()).isEqualTo(new ObjectKey("cart", "user-1"));
            assertThat(wait.on().state()).isEqualTo(RunState.RUNNING);
        });
        assertThat(waits.of(List.of(waiting.key(), holder.key(), called.key(), caller.key())))
                .extracting(
                        wait -> wait.by().key(), Wait::reason, wait -> wait.on().run())
                .containsExactlyInAnyOrder(
                        tuple(waiting.key(), Reason.TURN, holder),
                        tuple(holder.key(), Reason.CALL, called),
                        tuple(caller.key(), Reason.CALL, waiting));
        assertThat(waits.of(List.of(caller.key())).getFirst().on().seen())
                .isEqualTo(new Change.Seen(
                        found(waiting).info().createdAt(), found(waiting).info().changedAt()));

        apply(worker, advance(holder, 1, complete("1")));
        assertThat(waits.of(List.of(across.run().key(), waiting.key(), holder.key())))
                .extracting(Wait::reason)
                .as("the child outlives its caller in this test")
                .containsExactly(Reason.CALL);
    }

    @Test
    void runs_that_hold_objects_are_shown_if_a_call_has_waited_for_a_while_and_somebody_waits_for_it() {
        joinShards();
        WorkerId worker = join();
        List<Long> keys = new ArrayList<>();
        for (Parent parent : List.of(elsewhere(4), elsewhere(5))) {
            String object = "user-" + parent.position();
            keys.add(startOwned(worker, call("holder-" + object, object, null)).key());
            startReady(call("waiting-" + object, object, parent));
            startReady(call("second-" + object, object, elsewhere(7)));
        }
        startOwned(worker, call("holder", "alone", null));
        startReady(call("sent", "alone", null));
        startReady(call("reporting", "alone", elsewhere(Parent.REPORTS)));
        RunRef other = startOwned(worker, call("other", "here", null));
        startReady(call("of-parent", "here", new Parent(startOwned(worker, "parent"), 1, true)));
        keys.add(other.key());
        Collections.sort(keys);
        CallWaits waits = exchange().waits();

        assertThat(waits.holders(0, 10)).as("too young").isEmpty();
        advance(Duration.ofSeconds(2));
        assertThat(waits.holders(0, 10)).containsExactlyElementsOf(keys);
        assertThat(waits.holders(0, 2)).containsExactlyElementsOf(keys.subList(0, 2));
        assertThat(waits.holders(keys.get(1), 2)).containsExactly(keys.get(2));
    }

    @Test
    void a_sweep_of_a_shard_says_if_calls_wait() {
        joinShards();
        List<Hints.Hint> heard = Collections.synchronizedList(new ArrayList<>());
        Hints.CallsWait wait = new Hints.CallsWait();
        WorkerId worker = join();
        startOwned(worker, call("holder", "user-1", null));
        try (Hints.Subscription subscription = store().hints().subscribe(heard::add)) {
            assertThat(subscription).isNotNull();
            store().leases().sweep(10);
            assertThat(heard).doesNotContain(wait);
            startReady(call("waiting", "user-1", elsewhere(4)));
            store().leases().sweep(10);
            assertThat(heard).contains(wait);
        }
    }

    @Test
    void a_call_that_is_refused_tells_its_caller_and_only_if_it_waits_as_it_was_seen() {
        joinShards();
        WorkerId worker = join();
        startOwned(worker, call("holder", "user-1", null));
        NewRun waiting = call("waiting", "user-1", elsewhere(4));
        RunRef run = startReady(waiting);
        Change.Seen seen =
                new Change.Seen(found(run).info().createdAt(), found(run).info().changedAt());
        advance(Duration.ofSeconds(1));
        command(run, Change.CommandKind.PAUSE, "a look at it");
        command(run, Change.CommandKind.RESUME, "");
        Change.Command stale = new Change.Command(run.id(), Change.CommandKind.REFUSE, "a cycle", null, seen);
        assertThat(apply(Lane.client(0), stale)).isInstanceOf(Outcome.UnknownRun.class);
        Change.Seen now =
                new Change.Seen(found(run).info().createdAt(), found(run).info().changedAt());
        apply(Lane.client(0), new Change.Command(run.id(), Change.CommandKind.REFUSE, "a cycle", null, now));
        assertThat(found(run).info().state()).isEqualTo(RunState.FAILED);
        Mail failure = Mail.failure(Channel.answer(4), new UUID(0, 0), "FAILED: a cycle", Payload.EMPTY);
        assertThat(underWay()).containsExactly(told(run, waiting, failure, 3));
    }

    @Test
    void it_is_kept_whatever_ends_the_run() {
        joinShards();
        NewRun killed = childOf("killed", elsewhere(4));
        RunRef run = startReady(killed);
        command(run, Change.CommandKind.KILL, "enough");
        Mail failure = Mail.failure(Channel.answer(4), new UUID(0, 0), "CANCELLED: enough", Payload.EMPTY);
        assertThat(underWay()).containsExactly(told(run, killed, failure, 3));
    }

    @Test
    void it_is_kept_when_a_sweep_ends_the_run_of_a_dead_worker() {
        joinShards();
        WorkerId worker = join();
        NewRun killed = childOf("killed", elsewhere(4));
        RunRef run = startOwned(worker, killed);
        command(run, Change.CommandKind.KILL, "enough");
        store().leases().leave(worker);
        store().leases().sweep(10);
        Mail failure = Mail.failure(Channel.answer(4), new UUID(0, 0), "CANCELLED: enough", Payload.EMPTY);
        assertThat(underWay()).containsExactly(told(run, killed, failure, 3));
    }

    @Test
    void a_run_that_has_ended_tells_its_outcome_again_under_the_same_token() {
        joinShards();
        WorkerId worker = join();
        NewRun child = childOf("child", elsewhere(4));
        RunRef run = startOwned(worker, child);
        Change again = new Change.Retell(run.id(), elsewhere(4));
        assertThat(apply(Lane.client(0), again)).isInstanceOf(Outcome.Applied.class);
        assertThat(underWay()).as("it has not ended").isEmpty();
        apply(worker, advance(run, 1, complete("42")));
        Exchange.Content told = told(run, child, Mail.value(Channel.answer(4), new UUID(0, 0), payload("42")), 3);
        assertThat(underWay()).containsExactly(told);
        apply(Lane.client(0), again);
        assertThat(underWay()).as("it is on its way").containsExactly(told);

        forgetUnderWay();
        for (Parent other :
                List.of(elsewhere(5), elsewhere(4).inLife(2), elsewhere(4).inLife(4))) {
            assertThat(apply(Lane.client(0), new Change.Retell(run.id(), other)))
                    .as("it is not the caller")
                    .isInstanceOf(Outcome.Applied.class);
        }
        assertThat(underWay()).isEmpty();
        apply(Lane.client(0), again);
        apply(Lane.client(0), again);
        assertThat(underWay()).containsExactly(told);
        assertThat(apply(Lane.client(0), new Change.Retell(RunId.of("nobody"), elsewhere(4))))
                .isEqualTo(new Outcome.UnknownRun());
    }

    /**
     * The process that carries the first copy over has found that its caller has ended, and removes it after the caller was
     * retried.
     */
    @Test
    void an_outcome_that_is_told_again_is_there_when_the_first_copy_is_removed() {
        joinShards();
        WorkerId worker = join();
        NewRun child = childOf("child", elsewhere(4));
        RunRef run = startOwned(worker, child);
        apply(worker, advance(run, 1, complete("42")));
        List<Long> first = exchange().outgoing(ALL, 0, 100).stream()
                .map(Exchange.Outgoing::number)
                .toList();
        apply(Lane.client(0), new Change.Retell(run.id(), elsewhere(4)));
        exchange().remove(first);
        Mail value = Mail.value(Channel.answer(4), new UUID(0, 0), payload("42"));
        assertThat(underWay()).containsExactly(told(run, child, value, 3));
    }

    @Test
    void what_a_retry_sends_is_kept_with_it_and_only_then() {
        joinShards();
        WorkerId worker = join();
        RunRef failed = startOwned(worker, "failed");
        RunRef done = startOwned(worker, "done");
        apply(worker, advance(failed, 1, new Move.End(RunState.FAILED, Payload.EMPTY, "it failed")));
        apply(worker, advance(done, 1, complete("1")));
        Change refused = new Change.Retry(done.id(), found(done).info().changedAt(), null, List.of(send("c", 7)));
        assertThat(apply(Lane.client(0), refused)).isInstanceOf(Outcome.Refused.class);
        assertThat(underWay()).isEmpty();
        Change retry = new Change.Retry(
                failed.id(), found(failed).info().changedAt(), null, List.of(send("b", 9), send("a", 7)));
        assertThat(apply(Lane.client(0), retry)).isInstanceOf(Outcome.Applied.class);
        assertThat(apply(Lane.client(0), retry)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(underWay()).containsExactly(sent("b"), sent("a"));
    }

    private void forgetUnderWay() {
        exchange()
                .remove(exchange().outgoing(ALL, 0, 100).stream()
                        .map(Exchange.Outgoing::number)
                        .toList());
    }

    @Test
    void a_run_that_waits_for_a_run_of_another_shard_names_it_until_the_outcome_is_there() {
        joinShards();
        WorkerId worker = join();
        RunRef run = startOwned(worker, "caller-of-others");
        Move waits = await(3, Channel.answer(1), Channel.answer(2), Channel.answer(4));
        List<Effect> effects = List.of(send("a", 7), new Effect.Start(child("here", run, 2, true)), send("b", 9));
        apply(
                worker,
                advance(run, 1, waits, effects, calls(1, "there\nfingerprint"), calls(2, "here"), calls(3, "sent")));
        assertThat(found(run).info().awaited()).containsExactly("run 'there'", "run 'here'");
        assertThat(found(run).info().reason()).contains("Waits for run 'there', run 'here'.");
        apply(worker, new Change.Deliver(run.id(), Mail.value(Channel.answer(1), UUID.randomUUID(), payload("1")), 0));
        assertThat(found(run).info().awaited()).containsExactly("run 'here'");
    }

    /** A call as the journal has it when it has started its run. */
    private static Entry calls(int position, String written) {
        return new Entry(position, 1, Entry.Kind.CHILD, "leaf", Entry.Status.BEGUN, payload(written));
    }

    @Test
    void a_run_that_reports_elsewhere_keeps_its_report() {
        joinShards();
        WorkerId worker = join();
        NewRun reporting = childOf("reporting", elsewhere(Parent.REPORTS));
        RunRef run = startOwned(worker, reporting);
        apply(worker, advance(run, 1, complete("42")));
        Mail report = Mail.value(
                EndReport.channel(),
                new UUID(0, 0),
                new EndReport(RunId.of("reporting"), RunState.COMPLETED, "").payload());
        assertThat(underWay()).containsExactly(told(run, reporting, report, Change.Deliver.ANY_LIFE));
        assertThat(exchange().children(List.of(caller(3)))).isEmpty();
    }
}
