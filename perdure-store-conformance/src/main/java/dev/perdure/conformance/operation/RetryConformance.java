package dev.perdure.conformance.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartKey;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.attribute.Description;
import dev.perdure.conformance.dag.DagConformance;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Entry.Kind;
import dev.perdure.spi.change.Entry.Status;
import dev.perdure.spi.change.ForkPlan;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Runs that continue after their end, and runs that begin with the journal of another one. */
public abstract class RetryConformance extends DagConformance {
    private static final Move FAIL = new Move.End(RunState.FAILED, payload("\"no\""), "it failed");

    /** For subclasses. */
    protected RetryConformance() {}

    private static Entry entry(int position, int note, Kind kind, Status status) {
        return new Entry(position, note, kind, "call" + position, status, payload("1"));
    }

    private Outcome retry(RunRef run) {
        return apply(
                Lane.client(0), new Change.Retry(run.id(), found(run).info().changedAt()));
    }

    private Outcome fork(RunRef run, int position, String id, @Nullable Payload input) {
        return apply(Lane.client(0), new Change.Fork(run.id(), position, RunId.of(id), 4711, input));
    }

    /** A run with one step that has failed after two attempts. */
    private RunRef failed(WorkerId worker, String id) {
        RunRef run = startOwned(worker, id);
        apply(worker, advance(run, 1, STAY, step(1, "1")));
        advance(Duration.ofSeconds(1));
        apply(worker, advance(run, 1, STAY, entry(2, 1, Kind.STEP, Status.ATTEMPT)));
        apply(worker, advance(run, 1, FAIL, entry(2, 0, Kind.STEP, Status.FAILURE)));
        return run;
    }

    private String refusal(Outcome outcome) {
        assertThat(outcome).isInstanceOf(Outcome.Refused.class);
        return ((Outcome.Refused) outcome).reason();
    }

    @Test
    void a_run_continues_from_the_step_that_failed_in_the_same_life() {
        WorkerId worker = join();
        RunRef run = failed(worker, "a");
        advance(Duration.ofSeconds(1));

        assertThat(retry(run)).isEqualTo(new Outcome.Applied(now(), RunState.READY));
        assertThat(journalOf(run)).containsExactly(step(1, "1"));
        assertThat(store().runs().ended(List.of(run))).isEmpty();
        Claimed claimed = claimOne(worker);
        assertThat(claimed.epoch()).isGreaterThan(1);
        assertThat(claimed.control().cancel()).isNull();
        assertThat(apply(worker, advance(run, claimed.epoch(), complete("2"), step(2, "2"))))
                .isInstanceOf(Outcome.Applied.class);
        assertThat(changesOf(run)).containsExactly("RUNNING", "FAILED: it failed", "READY", "RUNNING", "COMPLETED");
    }

    @Test
    void the_deadline_counts_from_the_latest_retry() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, withTimeout(newRun("a"), Duration.ofMinutes(10)));
        apply(worker, advance(run, 1, FAIL, step(1, "1")));
        for (int retries = 1; retries <= 3; retries++) {
            advance(Duration.ofDays(1));
            assertThat(retry(run)).isInstanceOf(Outcome.Applied.class);
            Claimed claimed = claimOne(worker);
            assertThat(claimed.deadline()).isEqualTo(now().plus(Duration.ofMinutes(10)));
            apply(worker, advance(run, claimed.epoch(), FAIL));
        }
    }

    @Test
    void a_retry_that_is_sent_again_changes_nothing() {
        WorkerId worker = join();
        RunRef run = failed(worker, "a");
        Change.Retry retry = new Change.Retry(run.id(), found(run).info().changedAt());
        advance(Duration.ofSeconds(1));
        apply(Lane.client(0), retry);

        assertThat(apply(Lane.client(0), retry)).isEqualTo(new Outcome.AlreadyThere(now(), RunState.READY));
        Claimed claimed = claimOne(worker);
        advance(Duration.ofSeconds(1));
        apply(worker, advance(run, claimed.epoch(), FAIL));
        assertThat(apply(Lane.client(0), retry)).isEqualTo(new Outcome.AlreadyThere(now(), RunState.FAILED));
        assertThat(stateOf(run)).isEqualTo(RunState.FAILED);
    }

    @Test
    void a_cancelled_run_goes_on_with_the_call_that_got_the_cancel() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Entry begun = entry(1, 1, Kind.SLEEP, Status.BEGUN);
        apply(worker, advance(run, 1, STAY, begun));
        command(run, Change.CommandKind.CANCEL, "enough");
        apply(
                worker,
                advance(
                        run,
                        1,
                        new Move.End(RunState.CANCELLED, Payload.EMPTY, "enough"),
                        entry(1, 0, Kind.SLEEP, Status.CANCELLED)));

        assertThat(retry(run)).isInstanceOf(Outcome.Applied.class);
        assertThat(journalOf(run)).containsExactly(begun);
        assertThat(claimOne(worker).control().cancel()).isNull();
    }

    @Test
    void a_run_whose_code_threw_continues_behind_its_last_entry() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, FAIL, step(1, "1")));

        assertThat(retry(run)).isInstanceOf(Outcome.Applied.class);
        assertThat(journalOf(run)).containsExactly(step(1, "1"));
    }

    @Test
    void a_retry_is_refused_if_anything_was_recorded_after_the_failure() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, STAY, entry(1, 0, Kind.STEP, Status.FAILURE)));
        advance(Duration.ofSeconds(1));
        apply(worker, advance(run, 1, FAIL, step(2, "undone")));

        assertThat(refusal(retry(run)))
                .isEqualTo(
                        "STEP 'step2' at position 2 was recorded after the failure of STEP 'call1' at position 1. Let the run begin anew (rerun), or fork it from before all that it has undone.");
        assertThat(stateOf(run)).isEqualTo(RunState.FAILED);
        assertThat(journalOf(run)).hasSize(2);
    }

    @Test
    void a_retry_is_refused_if_the_caller_has_got_the_outcome() {
        WorkerId worker = join();
        RunRef parent = startOwned(worker, "parent");
        Effect start = new Effect.Start(child("child", parent, 1, true));
        apply(worker, advance(parent, 1, STAY, List.of(start), entry(1, 1, Kind.CHILD, Status.BEGUN)));
        Claimed child = claimOne(worker);
        apply(worker, advance(child.run(), 1, FAIL));

        assertThat(refusal(retry(child.run())))
                .isEqualTo(
                        "The run 'parent', which called it, has got the outcome of 'child'. Fork one of them instead.");
        apply(worker, advance(parent, 1, FAIL, entry(1, 0, Kind.CHILD, Status.FAILURE)));
        assertThat(refusal(retry(child.run()))).contains("has got the outcome");
        assertThat(refusal(retry(parent))).contains("CHILD 'call1' at position 1 failed, and would fail again.");
    }

    @Test
    void a_child_that_ended_meanwhile_answers_the_retried_run() {
        WorkerId worker = join();
        RunRef parent = startOwned(worker, "parent");
        Effect start = new Effect.Start(child("child", parent, 1, true));
        apply(worker, advance(parent, 1, STAY, List.of(start), entry(1, 1, Kind.CHILD, Status.BEGUN)));
        Claimed child = claimOne(worker);
        command(parent, Change.CommandKind.KILL, "by mistake");
        assertThat(apply(worker, advance(parent, 1, new Move.End(RunState.CANCELLED, Payload.EMPTY, "by mistake"))))
                .isInstanceOf(Outcome.Applied.class);
        apply(worker, advance(child.run(), 1, complete("\"late\"")));
        assertThat(unread(parent)).isEmpty();

        assertThat(retry(parent)).isInstanceOf(Outcome.Applied.class);
        assertThat(unread(parent)).containsExactly("\"late\"");
        assertThat(store().mailboxes()
                        .unread(parent, 0, 1_000)
                        .getFirst()
                        .mail()
                        .channel())
                .isEqualTo(Channel.answer(1));
    }

    @Test
    void an_outcome_that_the_parent_has_not_taken_is_forgotten_when_the_child_is_retried() {
        WorkerId worker = join();
        RunRef parent = startOwned(worker, "parent");
        Effect start = new Effect.Start(child("child", parent, 1, true));
        apply(worker, advance(parent, 1, STAY, List.of(start), entry(1, 1, Kind.CHILD, Status.BEGUN)));
        Claimed child = claimOne(worker);
        apply(worker, advance(child.run(), 1, FAIL));
        assertThat(unread(parent)).containsExactly("\"no\"");
        apply(worker, advance(parent, 1, new Move.End(RunState.CANCELLED, Payload.EMPTY, "by mistake")));

        assertThat(retry(child.run())).isInstanceOf(Outcome.Applied.class);
        assertThat(retry(parent)).isInstanceOf(Outcome.Applied.class);
        assertThat(unread(parent)).isEmpty();
        Claimed again = polled(worker, 2).claimed().stream()
                .filter(claimed -> claimed.run().equals(child.run()))
                .findFirst()
                .orElseThrow();
        apply(worker, advance(again.run(), again.epoch(), complete("\"yes\"")));
        assertThat(unread(parent)).containsExactly("\"yes\"");
    }

    @Test
    void only_runs_that_failed_or_were_cancelled_are_retried() {
        WorkerId worker = join();
        RunRef completed = startOwned(worker, "completed");
        apply(worker, advance(completed, 1, complete("1")));
        assertThat(refusal(retry(completed)))
                .contains("is COMPLETED. Only a run that failed or was cancelled is retried.");
        RunRef running = startOwned(worker, "running");
        assertThat(retry(running)).isEqualTo(new Outcome.AlreadyThere(now(), RunState.RUNNING));
        assertThat(apply(Lane.client(0), new Change.Retry(RunId.of("nobody"), now())))
                .isEqualTo(new Outcome.UnknownRun());
        start(null, diamond());
        command(refOf("dag"), Change.CommandKind.KILL, "no");
        assertThat(refusal(retry(refOf("dag")))).contains("belongs to a DAG");
        assertThat(refusal(retry(refOf("a")))).contains("belongs to a DAG");
    }

    // ---- deduplication keys

    private static final StartKey.Deduplication ONE = StartKey.deduplicate("k");

    private static NewRun keyed(String id, StartKey key) {
        return newRun(id).withAdmission(Admission.UNCONDITIONAL.withKey(key, false));
    }

    /** A run that has failed and was started under a key. */
    private RunRef failed(WorkerId worker, String id, StartKey key) {
        RunRef run = startOwned(worker, keyed(id, key));
        apply(worker, advance(run, 1, FAIL));
        return run;
    }

    @Test
    void a_retry_is_refused_while_another_run_has_the_deduplication_key() {
        WorkerId worker = join();
        RunRef first = failed(worker, "first", ONE);
        RunRef second = startOwned(worker, keyed("second", ONE));

        assertThat(refusal(retry(first)))
                .isEqualTo(
                        "The run 'second' has its deduplication key 'k' now, and only one run at a time has it. Retry 'first' when that run has ended, or fork it.");
        assertThat(stateOf(first)).isEqualTo(RunState.FAILED);
        apply(worker, advance(second, 1, complete("1")));
        assertThat(retry(first)).isInstanceOf(Outcome.Applied.class);
    }

    @Test
    void a_retried_run_has_its_deduplication_key_again() {
        WorkerId worker = join();
        RunRef first = failed(worker, "first", ONE);
        RunRef second = failed(worker, "second", ONE);
        assertThat(retry(first)).isInstanceOf(Outcome.Applied.class);

        Change third = new Change.Start(keyed("third", ONE.refuse()), null);
        assertThat(apply(Lane.client(0), third)).isEqualTo(new Outcome.KeyTaken(first));
        assertThat(refusal(retry(second))).startsWith("The run 'first' has its deduplication key 'k' now");
        Claimed claimed = claimOne(worker);
        apply(worker, advance(first, claimed.epoch(), complete("1")));
        assertThat(retry(second)).isInstanceOf(Outcome.Applied.class);
    }

    @Test
    void a_retry_is_refused_while_a_run_that_was_to_be_replaced_goes_on() {
        WorkerId worker = join();
        RunRef first = failed(worker, "first", ONE.replace());
        RunRef second = startOwned(worker, keyed("second", ONE.replace()));
        apply(Lane.client(0), new Change.Start(keyed("third", ONE.replace()), null));
        command(refOf("third"), Change.CommandKind.KILL, "no");
        assertThat(stateOf(second)).isEqualTo(RunState.RUNNING);

        assertThat(refusal(retry(first))).startsWith("The run 'second' has its deduplication key 'k' now");
        assertThat(refusal(retry(refOf("third")))).startsWith("The run 'second' has its deduplication key 'k' now");
        apply(worker, advance(second, 1, complete("1")));
        assertThat(retry(first)).isInstanceOf(Outcome.Applied.class);
    }

    @Test
    void a_key_that_a_run_gave_up_when_it_began_does_not_matter() {
        WorkerId worker = join();
        RunRef first = failed(worker, "first", ONE.untilBegun());
        apply(Lane.client(0), new Change.Start(keyed("second", ONE.untilBegun()), null));

        assertThat(retry(first)).isInstanceOf(Outcome.Applied.class);
        assertThat(stateOf(refOf("second"))).isEqualTo(RunState.READY);
    }

    private Outcome rerun(String dag, long seed) {
        return apply(Lane.client(0), new Change.Rerun(RunId.of(dag), List.of(RunId.of("a")), seed));
    }

    @Test
    void tasks_do_not_begin_anew_while_another_run_has_the_deduplication_key() {
        WorkerId worker = join();
        start(null, keyed("dag", ONE), diamond());
        command(refOf("dag"), Change.CommandKind.KILL, "no");
        RunRef second = startOwned(worker, keyed("second", ONE));
        assertThat(refusal(rerun("dag", 1)))
                .isEqualTo(
                        "The run 'second' has its deduplication key 'k' now, and only one run at a time has it. Let 'dag' begin anew when that run has ended.");
        assertThat(statesOf("dag", "a", "b")).containsOnly(RunState.CANCELLED);
        apply(worker, advance(second, 1, complete("1")));
        assertThat(rerun("dag", 1)).isInstanceOf(Outcome.Applied.class);
        assertThat(rerun("dag", 1)).isInstanceOf(Outcome.AlreadyThere.class);

        Change third = new Change.Start(keyed("third", ONE.refuse()), null);
        assertThat(apply(Lane.client(0), third)).isEqualTo(new Outcome.KeyTaken(refOf("dag")));
        assertThat(refusal(rerun("dag", 2))).contains("dag");
    }

    // ---- forks

    @Test
    void a_fork_has_the_journal_up_to_its_position_and_leaves_the_run_alone() {
        WorkerId worker = join();
        RunRef run = failed(worker, "a");

        assertThat(fork(run, 2, "b", null)).isInstanceOf(Outcome.Started.class);
        assertThat(fork(run, 2, "b", null)).isInstanceOf(Outcome.Started.class);
        RunRef forked = refOf("b");
        assertThat(journalOf(forked)).containsExactly(step(1, "1"));
        assertThat(store().runs().input(forked)).isEqualTo(store().runs().input(run));
        assertThat(stateOf(run)).isEqualTo(RunState.FAILED);
        assertThat(journalOf(run)).hasSize(3);
        Claimed claimed = claimOne(worker);
        assertThat(claimed.run()).isEqualTo(forked);
        assertThat(claimed.definition()).isEqualTo(DEFINITION);
        assertThat(claimed.epoch()).isGreaterThan(Outcome.Started.FIRST_EPOCH);
        assertThat(apply(worker, advance(forked, claimed.epoch(), complete("2"), step(2, "2"))))
                .isInstanceOf(Outcome.Applied.class);
    }

    @Test
    void what_a_fork_takes_over_has_times_before_its_creation() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, STAY, step(1, "1")));
        fork(run, 2, "b", null);
        assertThat(store().journals().read(refOf("b"), 0, Integer.MAX_VALUE).entries())
                .singleElement()
                .satisfies(copied -> assertThat(copied.at())
                        .isBefore(found(refOf("b")).info().createdAt()));
        assertThat(store().journals()
                        .read(run, 0, Integer.MAX_VALUE)
                        .entries()
                        .getFirst()
                        .at())
                .isEqualTo(now());
    }

    @Test
    void a_fork_has_the_timeout_of_the_run_from_its_own_start() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, withTimeout(newRun("a"), Duration.ofMinutes(10)));
        apply(worker, advance(run, 1, FAIL, step(1, "1")));
        advance(Duration.ofDays(1));
        fork(run, 1, "b", null);
        Claimed forked = claimOne(worker);
        assertThat(forked.deadline()).isEqualTo(now().plus(Duration.ofMinutes(10)));

        advance(Duration.ofDays(1));
        retry(run);
        fork(run, 1, "c", null);
        assertThat(polled(worker, 2).claimed())
                .extracting(Claimed::deadline)
                .containsExactly(now().plus(Duration.ofMinutes(10)), now().plus(Duration.ofMinutes(10)));
    }

    @Test
    void a_fork_may_have_another_input_and_forks_a_run_that_lives() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, STAY, step(1, "1")));
        fork(run, 1, "b", payload("\"other\""));

        assertThat(journalOf(refOf("b"))).isEmpty();
        assertThat(store().runs().input(refOf("b"))).contains(payload("\"other\""));
        assertThat(stateOf(run)).isEqualTo(RunState.RUNNING);
    }

    @Test
    void a_fork_takes_over_the_entries_that_come_with_it_where_the_run_has_one() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, STAY, step(1, "1"), step(2, "2"), step(3, "3")));
        List<Entry> anew = List.of(step(1, "\"anew\""), step(2, "2"), step(3, "\"too late\""), step(9, "\"nowhere\""));

        copied(run, anew, Map.of(), Map.of());
        assertThat(journalOf(refOf("b"))).containsExactly(step(1, "\"anew\""), step(2, "2"));
        assertThat(journalOf(run)).containsExactly(step(1, "1"), step(2, "2"), step(3, "3"));
    }

    @Test
    void a_fork_that_lacks_what_the_run_has_recorded_since_starts_nothing() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, STAY, step(1, "1"), step(2, "2")));

        assertThat(copied(run, List.of(step(1, "\"anew\"")), Map.of(), Map.of()))
                .isEqualTo(new Outcome.Outdated());
        assertThat(copied(run, List.of(), Map.of(), Map.of())).isEqualTo(new Outcome.Outdated());
        assertThat(store().runs().find(RunId.of("b"))).isEmpty();
    }

    private Outcome copied(
            RunRef run, List<Entry> entries, Map<String, AttributeValue> read, Map<String, AttributeValue> attributes) {
        return copied(run, new Change.Fork.Copy(seedOf(run), entries, read, attributes));
    }

    private Outcome copied(RunRef run, Change.Fork.Copy copy) {
        return apply(Lane.client(0), new Change.Fork(run.id(), 3, RunId.of("b"), 4711, null, copy, false, null));
    }

    private long seedOf(RunRef run) {
        return store().runs().basis(run).orElseThrow().seed();
    }

    @Test
    void a_fork_that_was_copied_from_another_life_of_the_run_starts_nothing() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, STAY, step(1, "\"before\"")));
        Change.Fork.Copy before = new Change.Fork.Copy(seedOf(run), List.of(step(1, "\"before\"")), Map.of(), Map.of());
        apply(worker, advance(run, 1, new Move.Restart(payload("\"again\""), 4712, true)));
        Claimed again = claimOne(worker);
        apply(worker, advance(run, again.epoch(), STAY, step(1, "\"after\"")));

        assertThat(copied(run, before)).isEqualTo(new Outcome.Outdated());
        assertThat(store().runs().find(RunId.of("b"))).isEmpty();
        assertThat(copied(run, List.of(step(1, "\"after\"")), Map.of(), Map.of()))
                .isInstanceOf(Outcome.Started.class);
    }

    @Test
    void a_fork_that_was_copied_before_a_step_got_another_outcome_starts_nothing() {
        WorkerId worker = join();
        RunRef run = failed(worker, "a");
        List<Entry> failed = journalOf(run);
        retry(run);
        Claimed claimed = claimOne(worker);
        apply(worker, advance(run, claimed.epoch(), STAY, entry(2, 0, Kind.STEP, Status.VALUE)));

        assertThat(copied(run, failed, Map.of(), Map.of())).isEqualTo(new Outcome.Outdated());
        assertThat(copied(run, journalOf(run), Map.of(), Map.of())).isInstanceOf(Outcome.Started.class);
    }

    @Test
    void a_fork_has_the_attributes_that_come_with_it_if_the_run_still_has_those_that_were_read() {
        AttributeValue before = new AttributeValue.Encrypted("AWVuYwEx");
        AttributeValue anew = new AttributeValue.Encrypted("AWVuYwEy");
        AttributeValue plain = new AttributeValue.Text("c-1");
        apply(
                Lane.client(0),
                new Change.Start(
                        newRun("a")
                                .describedAs(
                                        Description.NONE.with("email", before).with("customer", plain)),
                        null));
        RunRef run = refOf("a");

        Map<String, AttributeValue> copy = Map.of("email", anew, "customer", anew);
        for (Map<String, AttributeValue> read : List.of(
                Map.<String, AttributeValue>of(),
                Map.of("email", before),
                Map.of("email", anew, "customer", plain),
                Map.of("email", before, "customer", plain, "gone since", plain))) {
            assertThat(copied(run, List.of(), read, copy)).as("%s", read).isEqualTo(new Outcome.Outdated());
        }
        assertThat(store().runs().find(RunId.of("b"))).isEmpty();
        assertThat(copied(run, List.of(), Map.of("email", before, "customer", plain), copy))
                .isInstanceOf(Outcome.Started.class);
        assertThat(store().runs().find(RunId.of("b")).orElseThrow().info().description())
                .isEqualTo(Description.NONE.with("email", anew).with("customer", anew));
        assertThat(store().runs().find(run.id()).orElseThrow().info().description())
                .isEqualTo(Description.NONE.with("email", before).with("customer", plain));
    }

    @Test
    void a_fork_that_is_sent_again_copies_nothing_that_the_run_has_recorded_since() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, STAY, step(1, "1")));
        fork(run, 3, "b", null);
        apply(worker, advance(run, 1, STAY, step(2, "2")));

        assertThat(fork(run, 3, "b", null)).isInstanceOf(Outcome.Started.class);
        assertThat(journalOf(refOf("b"))).containsExactly(step(1, "1"));
    }

    @Test
    void a_fork_takes_over_what_was_undone_only_if_it_may() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Entry undoing = new Entry(4, 0, Kind.PATCH, ForkPlan.undone(2), Status.VALUE, Payload.EMPTY);
        apply(worker, advance(run, 1, STAY, step(1, "1"), step(2, "2"), entry(3, 0, Kind.STEP, Status.FAILURE)));
        apply(worker, advance(run, 1, FAIL, undoing, step(5, "undone")));

        assertThat(refusal(fork(run, 3, "b", null)))
                .isEqualTo(
                        "Its saga has undone what it did from position 2 on, and the fork would take that over. Fork it from position 2 or an earlier one, or allow that with allowCompensated.");
        assertThat(fork(run, 2, "b", null)).isInstanceOf(Outcome.Started.class);
        assertThat(journalOf(refOf("b"))).containsExactly(step(1, "1"));
        assertThat(apply(Lane.client(0), new Change.Fork(run.id(), 3, RunId.of("c"), 5, null, null, true, null)))
                .isInstanceOf(Outcome.Started.class);
        assertThat(journalOf(refOf("c"))).containsExactly(step(1, "1"), step(2, "2"));
    }

    @Test
    void a_fork_is_refused_behind_a_call_without_an_answer() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, STAY, entry(1, 1, Kind.CHILD, Status.BEGUN), step(2, "1")));

        assertThat(refusal(fork(run, 3, "b", null)))
                .isEqualTo(
                        "CHILD 'call1' at position 1 has no answer, and only the run itself can get it. Fork from position 1 or an earlier one.");
        assertThat(fork(run, 1, "b", null)).isInstanceOf(Outcome.Started.class);
        assertThat(apply(Lane.client(0), new Change.Fork(run.id(), 1, run.id(), 5, null)))
                .isInstanceOf(Outcome.Existing.class);
        assertThat(apply(Lane.client(0), new Change.Fork(RunId.of("nobody"), 1, RunId.of("c"), 5, null)))
                .isEqualTo(new Outcome.UnknownRun());
    }
}
