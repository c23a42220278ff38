package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
import dev.perdure.StartKey;
import dev.perdure.StartKey.Deduplication;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Starts under keys: deduplication, idempotency keys, debounce. */
public abstract class StartKeyConformance extends StoreConformance {
    private static final Duration QUIET = Duration.ofSeconds(10);
    private static final Duration LONGEST = Duration.ofSeconds(25);
    private static final StartKey DEBOUNCE = StartKey.debounce("k", QUIET, LONGEST);
    private static final StartKey LIVES = StartKey.idempotencyKey("k", Duration.ofHours(24));
    private static final Deduplication ONE = StartKey.deduplicate("k");

    /** For subclasses. */
    protected StartKeyConformance() {}

    private static NewRun keyed(String id, StartKey key) {
        NewRun run = withInput(newRun(id), payload("\"input\""));
        return run.withAdmission(Admission.UNCONDITIONAL.withKey(key, false));
    }

    private static NewRun unanswered(String id, StartKey key) {
        return keyed(id, key).withAdmission(Admission.UNCONDITIONAL.withKey(key, true));
    }

    private static NewRun debounced(String id, String input) {
        return withDelay(withInput(newRun(id), payload(input)), QUIET)
                .withAdmission(Admission.UNCONDITIONAL.withKey(DEBOUNCE, false));
    }

    private Outcome start(NewRun run) {
        return apply(Lane.client(0), new Change.Start(run, null));
    }

    private RunRef started(NewRun run) {
        Outcome outcome = start(run);
        assertThat(outcome).isInstanceOf(Outcome.Started.class);
        return ((Outcome.Started) outcome).run();
    }

    private void assertAttached(Outcome outcome, RunRef run) {
        assertThat(outcome).isEqualTo(new Outcome.Existing(run, DEFINITION, true));
    }

    private void assertNone(String id) {
        assertThat(store().runs().find(newRun(id).id())).isEmpty();
    }

    private void complete(WorkerId worker, RunRef run, long epoch) {
        assertThat(apply(worker, advance(run, epoch, complete("done")))).isInstanceOf(Outcome.Applied.class);
    }

    // ---- deduplication

    @Test
    void a_second_start_attaches_until_the_run_has_ended() {
        WorkerId worker = join();
        RunRef first = started(keyed("first", ONE));
        assertAttached(start(keyed("second", ONE)), first);
        claimOne(worker);
        assertAttached(start(keyed("third", ONE)), first);
        assertThat(start(withInput(keyed("other", ONE), payload("\"other\""))
                        .withAdmission(Admission.UNCONDITIONAL.withKey(ONE, false))))
                .isEqualTo(new Outcome.Existing(first, DEFINITION, false));
        complete(worker, first, 1);
        assertNone("second");
        assertThat(started(keyed("fourth", ONE))).isNotEqualTo(first);
    }

    @Test
    void a_second_start_attaches_until_the_run_has_begun() {
        WorkerId worker = join();
        RunRef first = started(keyed("first", ONE.untilBegun()));
        assertAttached(start(keyed("second", ONE.untilBegun())), first);
        claimOne(worker);
        RunRef third = started(keyed("third", ONE.untilBegun()));
        assertThat(stateOf(third)).isEqualTo(RunState.READY);
    }

    @Test
    void a_run_that_is_born_running_has_its_key() {
        WorkerId worker = join();
        RunRef first = startOwned(worker, keyed("first", ONE));
        assertThat(stateOf(first)).isEqualTo(RunState.RUNNING);
        assertAttached(apply(worker, new Change.Start(keyed("second", ONE), worker)), first);
        complete(worker, first, 1);
        startOwned(worker, keyed("third", ONE));
    }

    @Test
    void a_second_start_is_refused_and_names_the_run() {
        RunRef first = started(keyed("first", ONE.refuse()));
        assertThat(start(keyed("second", ONE.refuse()))).isEqualTo(new Outcome.KeyTaken(first));
        assertNone("second");
        command(first, Change.CommandKind.KILL, "enough");
        started(keyed("third", ONE.refuse()));
    }

    @Test
    void a_second_start_replaces_a_run_that_has_not_begun() {
        RunRef first = started(keyed("first", ONE.replace()));
        RunRef second = started(keyed("second", ONE.replace()));
        assertThat(stateOf(first)).isEqualTo(RunState.CANCELLED);
        assertThat(found(first).info().reason())
                .contains("Replaced by run 'second', which was started under the same key 'k'.");
        assertThat(stateOf(second)).isEqualTo(RunState.READY);
    }

    @Test
    void a_run_that_has_begun_is_not_replaced_if_it_has_its_key_until_then() {
        WorkerId worker = join();
        RunRef first = started(keyed("first", ONE.untilBegun().replace()));
        claimOne(worker);
        RunRef second = started(keyed("second", ONE.untilBegun().replace()));
        assertThat(stateOf(first)).isEqualTo(RunState.RUNNING);
        assertThat(stateOf(second)).isEqualTo(RunState.READY);
    }

    @Test
    void a_run_that_replaces_one_at_work_begins_when_that_has_ended() {
        WorkerId worker = join();
        RunRef first = started(keyed("first", ONE.replace()));
        claimOne(worker);
        RunRef second = started(keyed("second", ONE.replace()));
        assertThat(stateOf(second)).isEqualTo(RunState.PENDING);
        assertThat(found(second).info().reason()).contains("Begins when run 'first', which it replaces, has ended.");
        assertThat(polled(worker, 10).signalled()).singleElement().satisfies(signalled -> {
            assertThat(signalled.run()).isEqualTo(first);
            assertThat(signalled.control().cancel()).contains("Replaced by run 'second'");
        });
        apply(worker, advance(first, 1, new Move.End(RunState.CANCELLED, payload("null"), "cancelled")));
        polled(worker, 0);
        assertThat(stateOf(second)).isEqualTo(RunState.READY);
        assertThat(claimOne(worker).run()).isEqualTo(second);
        assertThat(changesOf(second)).startsWith("PENDING: " + Admission.replaces(first.id()), "READY");
    }

    @Test
    void of_several_that_replace_one_at_work_the_last_begins() {
        WorkerId worker = join();
        RunRef first = started(keyed("first", ONE.replace()));
        claimOne(worker);
        RunRef second = started(keyed("second", ONE.replace()));
        RunRef third = started(keyed("third", ONE.replace()));
        assertThat(stateOf(second)).isEqualTo(RunState.CANCELLED);
        assertThat(stateOf(third)).isEqualTo(RunState.PENDING);
        command(third, Change.CommandKind.KILL, "not that one");
        RunRef fourth = started(keyed("fourth", ONE.replace()));
        assertThat(stateOf(fourth)).isEqualTo(RunState.PENDING);
        command(fourth, Change.CommandKind.PAUSE, "wait");
        command(fourth, Change.CommandKind.RESUME, "");
        assertThat(stateOf(fourth)).isEqualTo(RunState.PENDING);
        complete(worker, first, 1);
        polled(worker, 0);
        assertThat(claimOne(worker).run()).isEqualTo(fourth);
        assertThat(polled(worker, 10).claimed()).isEmpty();
    }

    @Test
    void a_cancel_ends_a_run_that_waits_for_what_it_replaces() {
        WorkerId worker = join();
        started(keyed("first", ONE.replace()));
        claimOne(worker);
        RunRef second = started(keyed("second", ONE.replace()));
        assertThat(command(second, Change.CommandKind.CANCEL, "no")).isEqualTo(changed(RunState.CANCELLED));
    }

    @Test
    void a_dag_has_its_key_until_a_task_begins_or_until_it_has_ended() {
        WorkerId worker = join();
        List<Task> tasks = List.of(new Task(newRun("dag/0"), List.of()));
        apply(Lane.client(0), new Change.Start(keyed("dag", ONE), null, List.of(), tasks));
        RunRef dag = refOf("dag");
        assertAttached(start(keyed("second", ONE.untilBegun())), dag);
        claimOne(worker);
        assertAttached(start(keyed("second", ONE)), dag);
        started(keyed("third", ONE.untilBegun()));
    }

    @Test
    void keys_of_other_definitions_and_kinds_are_others() {
        started(keyed("first", ONE));
        started(withDefinition(keyed("second", ONE), "other")
                .withAdmission(Admission.UNCONDITIONAL.withKey(ONE, false)));
        started(keyed("third", LIVES));
        started(keyed("fourth", StartKey.deduplicate("K")));
    }

    @Test
    void a_repeated_start_gives_the_same_answer() {
        NewRun first = keyed("first", ONE.refuse());
        RunRef run = started(first);
        assertThat(started(first)).isEqualTo(run);
        NewRun second = keyed("second", ONE.replace());
        RunRef replacing = started(second);
        assertThat(started(second)).isEqualTo(replacing);
        assertThat(stateOf(replacing)).isEqualTo(RunState.READY);
    }

    @Test
    void the_starts_of_a_batch_are_made_in_order_beside_others() {
        List<Outcome> outcomes = store().ledger()
                .apply(
                        Lane.client(0),
                        List.of(
                                new Change.Start(keyed("first", ONE), null),
                                new Change.Start(newRun("plain"), null),
                                new Change.Start(keyed("second", ONE), null)));
        assertThat(outcomes.get(0)).isInstanceOf(Outcome.Started.class);
        assertThat(outcomes.get(1)).isInstanceOf(Outcome.Started.class);
        assertAttached(outcomes.get(2), refOf("first"));
    }

    @Test
    void on_a_lane_that_is_gone_nothing_is_started_and_the_key_stays_free() {
        WorkerId worker = join();
        store().leases().leave(worker);
        assertThat(apply(worker, new Change.Start(keyed("first", ONE), worker))).isInstanceOf(Outcome.Fenced.class);
        started(keyed("second", ONE.refuse()));
    }

    // ---- no caller gets the answer

    @Test
    void a_start_without_a_caller_leaves_a_cancelled_run_if_another_has_the_key() {
        RunRef first = started(unanswered("first", ONE));
        assertThat(stateOf(first)).isEqualTo(RunState.READY);
        RunRef attached = started(unanswered("attached", ONE));
        RunRef refused = started(unanswered("refused", ONE.refuse()));
        for (RunRef each : List.of(attached, refused)) {
            assertThat(stateOf(each)).isEqualTo(RunState.CANCELLED);
            assertThat(found(each).info().reason()).contains("A duplicate: run 'first' has the key 'k'.");
        }
        NewRun again = unanswered("again", ONE);
        assertThat(started(again)).isEqualTo(started(again));
        assertThat(polled(join(), 10).claimed()).hasSize(1);
    }

    // ---- idempotency keys

    @Test
    void an_idempotency_key_names_its_run_for_its_time_whether_it_has_ended_or_not() {
        WorkerId worker = join();
        RunRef first = started(keyed("first", LIVES));
        claimOne(worker);
        complete(worker, first, 1);
        advance(Duration.ofHours(24).minusMillis(1));
        assertAttached(start(keyed("second", LIVES)), first);
        advance(Duration.ofMillis(1));
        RunRef third = started(keyed("third", LIVES));
        assertAttached(start(keyed("fourth", LIVES)), third);
    }

    @Test
    void a_second_start_does_not_prolong_an_idempotency_key() {
        RunRef first = started(keyed("first", LIVES));
        advance(Duration.ofHours(12));
        assertAttached(start(keyed("second", StartKey.idempotencyKey("k", Duration.ofDays(9)))), first);
        advance(Duration.ofHours(12));
        started(keyed("third", LIVES));
    }

    @Test
    void polls_forget_keys_that_are_free_and_keep_the_others() {
        WorkerId worker = join();
        RunRef first = started(keyed("first", ONE));
        RunRef lives = started(keyed("lives", LIVES));
        for (int hour = 0; hour < 5; hour++) {
            advance(Duration.ofHours(1));
            polled(worker, 0);
        }
        assertAttached(start(keyed("second", ONE)), first);
        assertAttached(start(keyed("third", LIVES)), lives);
        command(first, Change.CommandKind.KILL, "enough");
        advance(Duration.ofHours(20));
        polled(worker, 0);
        started(keyed("fourth", ONE.refuse()));
        started(keyed("fifth", LIVES));
    }

    // ---- debounce

    @Test
    void starts_within_the_quiet_time_make_one_run_with_the_last_input() {
        WorkerId worker = join();
        RunRef run = started(debounced("first", "1"));
        advance(Duration.ofSeconds(9));
        assertAttached(start(debounced("second", "2")), run);
        advance(Duration.ofSeconds(9));
        assertThat(polled(worker, 10).claimed()).isEmpty();
        assertThat(polled(worker, 10).nextDue()).isEqualTo(now().plusSeconds(1));
        assertAttached(start(debounced("third", "3")), run);
        assertNone("second");
        advance(Duration.ofSeconds(6));
        assertThat(polled(worker, 10).claimed()).isEmpty();
        // The longest wait since the first start is over before the quiet time since the last.
        advance(Duration.ofSeconds(1));
        Claimed claimed = claimOne(worker);
        assertThat(claimed.run()).isEqualTo(run);
        assertThat(claimed.input()).isEqualTo(payload("3"));
    }

    @Test
    void a_start_after_the_quiet_time_makes_another_run() {
        WorkerId worker = join();
        RunRef first = started(debounced("first", "1"));
        advance(QUIET);
        polled(worker, 0);
        assertThat(stateOf(first)).isEqualTo(RunState.READY);
        RunRef second = started(debounced("second", "2"));
        assertThat(claimOne(worker).input()).isEqualTo(payload("1"));
        advance(QUIET);
        assertThat(claimOne(worker).run()).isEqualTo(second);
    }

    @Test
    void a_repeated_debounced_start_counts_once() {
        WorkerId worker = join();
        RunRef run = started(debounced("first", "1"));
        advance(Duration.ofSeconds(5));
        NewRun second = debounced("second", "2");
        assertAttached(start(second), run);
        advance(QUIET);
        assertThat(claimOne(worker).input()).isEqualTo(payload("2"));
        assertAttached(start(second), run);
        advance(LONGEST);
        assertThat(polled(worker, 10).claimed()).isEmpty();
    }

    @Test
    void a_debounced_run_that_was_killed_frees_its_key() {
        RunRef first = started(debounced("first", "1"));
        command(first, Change.CommandKind.KILL, "enough");
        started(debounced("second", "2"));
    }

    // ---- races

    @Test
    void of_many_starts_at_once_one_is_the_first() throws Exception {
        List<Outcome> outcomes = atOnce(8, i -> start(keyed("run-" + i, ONE.refuse())));
        assertThat(outcomes).filteredOn(Outcome.Started.class::isInstance).hasSize(1);
        assertThat(outcomes).filteredOn(Outcome.KeyTaken.class::isInstance).hasSize(outcomes.size() - 1);
    }

    @Test
    void of_two_starts_under_one_id_and_one_key_at_once_one_starts_the_run_and_the_other_attaches() throws Exception {
        for (StartKey.Duplicate duplicate : StartKey.Duplicate.values()) {
            for (int round = 0; round < 5; round++) {
                String id = duplicate + "-" + round;
                StartKey key = new Deduplication(id, StartKey.Until.ENDED, duplicate);
                List<Outcome> outcomes = atOnce(2, i -> start(keyed(id, key)));
                RunRef run = refOf(id);
                assertThat(outcomes)
                        .filteredOn(Outcome.Started.class::isInstance)
                        .hasSize(1);
                assertThat(outcomes).contains(new Outcome.Existing(run, DEFINITION, true));
                assertThat(changesOf(run)).containsExactly("READY");
            }
        }
    }

    @Test
    void of_many_replacing_starts_at_once_one_is_left() throws Exception {
        List<Outcome> outcomes = atOnce(8, i -> start(keyed("run-" + i, ONE.replace())));
        assertThat(outcomes).allMatch(Outcome.Started.class::isInstance);
        assertThat(polled(join(), 100).claimed()).hasSize(1);
    }

    @Test
    void a_replacing_start_and_a_claim_leave_one_run_that_begins() throws Exception {
        for (int round = 0; round < 5; round++) {
            WorkerId worker = join();
            StartKey key = StartKey.deduplicate("race-" + round).replace();
            RunRef old = started(keyed("old-" + round, key));
            NewRun wanted = keyed("new-" + round, key);
            List<Claimed> claimed = new ArrayList<>();
            try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
                Future<List<Claimed>> claim =
                        threads.submit(() -> polled(worker, 1).claimed());
                Future<Outcome> start = threads.submit(() -> start(wanted));
                assertThat(start.get()).isInstanceOf(Outcome.Started.class);
                claimed.addAll(claim.get());
            }
            boolean oldRuns = claimed.stream().anyMatch(each -> each.run().equals(old));
            RunRef replacing = refOf("new-" + round);
            if (oldRuns) {
                assertThat(stateOf(replacing)).isEqualTo(RunState.PENDING);
                apply(worker, advance(old, 1, new Move.End(RunState.CANCELLED, payload("null"), "cancelled")));
                polled(worker, 0);
            } else {
                assertThat(stateOf(old)).isEqualTo(RunState.CANCELLED);
            }
            if (claimed.stream().noneMatch(each -> each.run().equals(replacing))) {
                assertThat(claimOne(worker).run()).isEqualTo(replacing);
            }
            complete(worker, replacing, 1);
        }
    }

    @Test
    void the_last_input_of_debounced_starts_and_their_firing_is_never_lost() throws Exception {
        WorkerId worker = join();
        started(debounced("first", "0"));
        advance(QUIET);
        List<Claimed> claimed = new CopyOnWriteArrayList<>();
        List<Outcome> outcomes = atOnce(8, i -> {
            if (i % 2 == 0) {
                claimed.addAll(polled(worker, 10).claimed());
            }
            return start(debounced("run-" + i, String.valueOf(i + 1)));
        });
        advance(LONGEST);
        claimed.addAll(polled(worker, 10).claimed());
        assertThat(claimed).extracting(Claimed::run).doesNotHaveDuplicates();
        // Each start has made a run, or given its input to one that had not begun.
        long made = outcomes.stream().filter(Outcome.Started.class::isInstance).count();
        assertThat(claimed).hasSize((int) made + 1);
    }

    private static List<Outcome> atOnce(int starts, IntFunction<Outcome> work) throws Exception {
        List<Outcome> outcomes = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            List<Callable<Outcome>> calls = IntStream.range(0, starts)
                    .<Callable<Outcome>>mapToObj(i -> () -> work.apply(i))
                    .toList();
            for (Future<Outcome> each : threads.invokeAll(calls)) {
                outcomes.add(each.get());
            }
        }
        return outcomes;
    }
}
