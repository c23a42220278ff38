package dev.perdure.conformance.operation;

import static dev.perdure.retention.Retention.FOREVER;
import static dev.perdure.retention.Retention.runs;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartKey;
import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.audit.Operator;
import dev.perdure.conformance.dag.DagConformance;
import dev.perdure.retention.Retention;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Removals;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectCall.Hold;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Which runs are removed, when, and with what. */
public abstract class RemovalConformance extends DagConformance {
    private static final Duration DAY = Duration.ofDays(1);
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Move FAIL = new Move.End(RunState.FAILED, payload("\"no\""), "it failed");

    /** For subclasses. */
    protected RemovalConformance() {}

    private void keep(Retention retention) {
        store().removals().declare(retention);
    }

    /** Removes everything that is due, in small batches. */
    private int remove() {
        int runs = 0;
        Removals.Removed removed;
        do {
            removed = store().removals().remove(3);
            runs += removed.runs();
        } while (removed.again().isZero());
        return runs;
    }

    private boolean exists(String id) {
        return store().runs().find(RunId.of(id)).isPresent();
    }

    private RunRef ended(WorkerId worker, NewRun run) {
        RunRef started = startOwned(worker, run);
        apply(worker, advance(started, 1, complete("\"done\""), step(1, "1")));
        return started;
    }

    private RunRef ended(WorkerId worker, String id) {
        return ended(worker, newRun(id));
    }

    private RunRef startChild(WorkerId worker, RunRef parent, String id, boolean answers) {
        apply(worker, advance(parent, 1, STAY, List.of(new Effect.Start(child(id, parent, 1, answers))), step(1, "1")));
        return refOf(id);
    }

    @Test
    void a_run_is_kept_for_30_days_after_its_end_by_default() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        advance(Duration.ofDays(10));
        apply(worker, advance(run, 1, complete("1")));

        advance(Duration.ofDays(30).minus(SECOND));
        assertThat(remove()).isZero();
        assertThat(exists("a")).isTrue();
        advance(Duration.ofHours(2));
        assertThat(remove()).isEqualTo(1);
        assertThat(exists("a")).isFalse();
        assertThat(store().removals().info().effective()).isEqualTo(Retention.standard());
    }

    @Test
    void everything_of_a_run_is_removed_and_its_id_is_free_again() {
        keep(Retention.of(DAY));
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        deliver(run, mail(Channel.message("news"), "\"hello\""));
        deliver(run, mail(Channel.promise("approved"), "true"));
        apply(
                worker,
                advance(
                        run,
                        1,
                        complete("1"),
                        List.of(
                                new Effect.Publish("progress", 1, payload("1")),
                                new Effect.Awakeable("hash", 2),
                                new Effect.Subscribe("paid", "", 3)),
                        step(1, "1")));
        advance(DAY);

        assertThat(remove()).isEqualTo(1);
        assertThat(journalOf(run)).isEmpty();
        assertThat(changesOf(run)).isEmpty();
        assertThat(unread(run)).isEmpty();
        assertThat(store().mailboxes().promise(run, "approved")).isEmpty();
        assertThat(store().mailboxes().latest(run, "progress")).isEmpty();
        assertThat(store().mailboxes().awakeable("hash")).isEmpty();
        assertThat(store().mailboxes().subscribers("paid", "")).isEmpty();
        assertThat(store().runs().input(run)).isEmpty();
        assertThat(deliver(run, mail(Channel.message("news"), "1"))).isEqualTo(new Outcome.UnknownRun());
        RunRef again = startReady("a");
        assertThat(again).isNotEqualTo(run);
        assertThat(stateOf(again)).isEqualTo(RunState.READY);
        assertThat(journalOf(again)).isEmpty();
    }

    @Test
    void callers_that_wait_learn_that_a_run_is_gone() {
        keep(Retention.of(DAY));
        WorkerId worker = join();
        RunRef gone = ended(worker, "gone");
        advance(DAY);
        RunRef there = ended(worker, "there");
        RunRef running = startOwned(worker, "running");
        remove();

        assertThat(store().runs().ended(List.of(gone, there, running)))
                .containsExactlyInAnyOrder(
                        Runs.Ended.removed(gone), new Runs.Ended(there, RunState.COMPLETED, payload("\"done\""), ""));
        Mailboxes.Place place = new Mailboxes.Place(gone, "progress", 0);
        assertThat(store().mailboxes().published(List.of(place), 10, 1_000))
                .containsEntry(place, new Mailboxes.Shown(List.of(), true, true));
    }

    @Test
    void runs_that_have_not_ended_stay_however_old_they_are() {
        keep(Retention.of(SECOND));
        WorkerId worker = join();
        RunRef running = startOwned(worker, "running");
        RunRef sleeping = startOwned(worker, "sleeping");
        apply(worker, advance(sleeping, 1, sleep(Duration.ofDays(1_000))));
        RunRef paused = startReady("paused");
        command(paused, Change.CommandKind.PAUSE, "wait");
        startReady("ready");
        advance(Duration.ofDays(100));

        assertThat(remove()).isZero();
        assertThat(Stream.of("running", "sleeping", "paused", "ready")).allMatch(this::exists);
        apply(worker, advance(running, 1, complete("1")));
        advance(SECOND);
        assertThat(remove()).isEqualTo(1);
    }

    @Test
    void the_first_rule_that_matches_gives_the_period() {
        keep(Retention.of(DAY)
                .keep(runs().definition("audit"), FOREVER)
                .keep(runs().queue("slow").outcome(RunState.FAILED), DAY.multipliedBy(5))
                .keep(runs().outcome(RunState.FAILED), DAY.multipliedBy(3)));
        WorkerId worker = join();
        ended(worker, withDefinition(newRun("audited"), "audit"));
        for (String queue : List.of("slow", QUEUE)) {
            RunRef failing = startOwned(worker, withQueue(newRun("failed in " + queue), queue));
            apply(worker, advance(failing, 1, FAIL));
        }
        ended(worker, withQueue(newRun("completed"), "slow"));

        advance(DAY);
        remove();
        assertThat(exists("completed")).isFalse();
        advance(DAY.multipliedBy(2));
        remove();
        assertThat(exists("failed in " + QUEUE)).isFalse();
        assertThat(exists("failed in slow")).isTrue();
        advance(DAY.multipliedBy(2));
        remove();
        assertThat(exists("failed in slow")).isFalse();
        advance(DAY.multipliedBy(1_000));
        remove();
        assertThat(exists("audited")).isTrue();
    }

    @Test
    void a_change_by_an_operator_holds_until_it_is_reset() {
        keep(Retention.of(DAY));
        ended(join(), "a");
        store().removals().change(Retention.of(FOREVER));
        keep(Retention.of(DAY.multipliedBy(2)));
        advance(DAY.multipliedBy(3));

        assertThat(remove()).isZero();
        assertThat(store().removals().info().declared()).isEqualTo(Retention.of(DAY.multipliedBy(2)));
        assertThat(store().removals().info().changed()).contains(Retention.of(FOREVER));
        store().removals().change(null);
        assertThat(remove()).isEqualTo(1);
        assertThat(store().removals().info().changed()).isEmpty();
    }

    // ---- runs that belong together

    @Test
    void a_child_stays_while_its_parent_lives() {
        keep(Retention.of(DAY));
        WorkerId worker = join();
        RunRef parent = startOwned(worker, "parent");
        startChild(worker, parent, "child", true);
        apply(worker, advance(claimOne(worker).run(), 1, complete("1")));
        advance(DAY.multipliedBy(2));

        assertThat(remove()).isZero();
        apply(worker, advance(parent, 1, complete("1")));
        advance(DAY);
        assertThat(remove()).isEqualTo(2);
        assertThat(exists("child")).isFalse();
    }

    @Test
    void a_parent_stays_while_a_child_lives_or_is_young() {
        keep(Retention.of(DAY));
        WorkerId worker = join();
        RunRef parent = startOwned(worker, "parent");
        startChild(worker, parent, "child", false);
        Claimed child = claimOne(worker);
        apply(worker, advance(parent, 1, complete("1")));
        advance(DAY);
        assertThat(remove()).isZero();
        apply(worker, advance(child.run(), 1, complete("1")));
        advance(DAY.minus(SECOND));
        assertThat(remove()).isZero();
        advance(Duration.ofHours(2));
        assertThat(remove()).isEqualTo(2);
    }

    @Test
    void the_longest_period_counts_for_all_that_belong_together() {
        keep(Retention.of(DAY).keep(runs().outcome(RunState.FAILED), FOREVER));
        WorkerId worker = join();
        RunRef parent = startOwned(worker, "parent");
        startChild(worker, parent, "child", true);
        apply(worker, advance(claimOne(worker).run(), 1, FAIL));
        apply(worker, advance(parent, 1, complete("1")));
        advance(DAY.multipliedBy(9));

        assertThat(remove()).isZero();
        assertThat(exists("parent")).isTrue();
    }

    @Test
    void a_child_of_an_earlier_life_goes_by_itself() {
        keep(Retention.of(DAY));
        WorkerId worker = join();
        RunRef parent = startOwned(worker, "parent");
        startChild(worker, parent, "child", false);
        apply(worker, advance(claimOne(worker).run(), 1, complete("1")));
        apply(worker, advance(parent, 1, new Move.Restart(payload("2"), 77)));
        advance(DAY);

        assertThat(remove()).isEqualTo(1);
        assertThat(exists("parent")).isTrue();
    }

    @Test
    void a_run_that_only_reports_its_end_goes_by_itself() {
        keep(Retention.of(DAY));
        WorkerId worker = join();
        RunRef schedule = startOwned(worker, "schedule");
        NewRun fired = newRun("fired").withParent(Parent.reporting(schedule));
        apply(worker, advance(schedule, 1, STAY, List.of(new Effect.Start(fired)), step(1, "1")));
        apply(worker, advance(claimOne(worker).run(), 1, complete("1")));
        advance(DAY);

        assertThat(remove()).isEqualTo(1);
        assertThat(exists("fired")).isFalse();
        assertThat(exists("schedule")).isTrue();
    }

    @Test
    void a_run_with_more_tasks_than_fit_into_a_batch_goes_as_a_whole() {
        keep(Retention.of(DAY));
        WorkerId worker = join();
        List<Task> tasks = IntStream.range(0, 10).mapToObj(i -> task("t" + i)).toList();
        List<Claimed> held = start(worker, tasks).handed();
        held.forEach(task -> complete(worker, task, 0));
        complete(worker, claimOne(worker), 0);
        ended(worker, "after");
        advance(DAY);

        assertThat(remove()).isEqualTo(12);
        assertThat(store().runs().list(RunFilter.all())).isEmpty();
        assertThat(start(worker, tasks).handed()).hasSize(10);
    }

    /** A run that has ended, with this many children below it. */
    private RunRef endedTree(WorkerId worker, String id, int children) {
        RunRef root = startOwned(worker, id);
        List<Effect> starts = IntStream.range(0, children)
                .<Effect>mapToObj(i -> new Effect.Start(child(id + "/" + i, root, 1, false)))
                .toList();
        apply(worker, advance(root, 1, STAY, starts, step(1, "1")));
        polled(worker, children)
                .claimed()
                .forEach(child -> apply(worker, advance(child.run(), child.epoch(), complete("1"))));
        apply(worker, advance(root, 1, complete("1")));
        return root;
    }

    @Test
    void a_tree_of_many_runs_with_a_young_one_below_stays_as_a_whole() {
        keep(Retention.of(DAY));
        WorkerId worker = join();
        RunRef root = endedTree(worker, "wide", 20);
        RunRef low = refOf("wide/19");
        advance(DAY.minus(SECOND));
        assertThat(remove()).isZero();
        advance(SECOND.multipliedBy(2));
        keep(Retention.of(DAY).keep(runs().outcome(RunState.COMPLETED), DAY.multipliedBy(2)));
        assertThat(remove()).isZero();
        assertThat(exists(low.id().value())).isTrue();
        advance(DAY.multipliedBy(2));

        assertThat(remove()).isEqualTo(21);
        assertThat(exists(root.id().value())).isFalse();
    }

    @Test
    void a_deep_tree_goes_from_its_end() {
        keep(Retention.of(DAY));
        WorkerId worker = join();
        List<RunRef> line = new ArrayList<>(List.of(startOwned(worker, "0")));
        for (int i = 1; i < 15; i++) {
            RunRef parent = line.getLast();
            apply(
                    worker,
                    advance(
                            parent,
                            1,
                            STAY,
                            List.of(
                                    new Effect.Start(child(i + "a", parent, 1, false)),
                                    new Effect.Start(child(String.valueOf(i), parent, 1, false))),
                            step(1, "1")));
            polled(worker, 2);
            apply(worker, advance(refOf(i + "a"), 1, complete("1")));
            line.add(refOf(String.valueOf(i)));
        }
        line.forEach(run -> apply(worker, advance(run, 1, complete("1"))));
        advance(DAY);

        int before = 30;
        Removals.Removed removed;
        do {
            removed = store().removals().remove(2);
            List<String> left = store().runs().list(RunFilter.all()).stream()
                    .map(run -> run.id().value())
                    .toList();
            assertThat(left).hasSizeLessThanOrEqualTo(before).allMatch(id -> {
                int depth = Integer.parseInt(id.replace("a", ""));
                return depth == 0 || left.contains(String.valueOf(depth - 1));
            });
            before = left.size();
        } while (removed.again().isZero());
        assertThat(before).isZero();
    }

    @Test
    void what_is_left_of_a_dag_between_two_batches_names_no_task_that_is_gone() {
        keep(Retention.of(DAY));
        WorkerId worker = join();
        Outcome.Started started = start(worker, line(3));
        Claimed next = started.handed().getFirst();
        for (int ends = 0; ends < 3; ends++) {
            next = complete(worker, next, 1).getFirst();
        }
        complete(worker, next, 0);
        advance(DAY);

        store().removals().remove(1);
        assertThat(store().runs()
                        .tasks(started.run(), Runs.BelowPlace.FIRST, 10)
                        .runs())
                .allSatisfy(task -> assertThat(task.after()).doesNotContainNull());
        assertThat(store().runs().tasks(started.run()))
                .allSatisfy(task -> assertThat(task.after()).doesNotContainNull());
    }

    @Test
    void a_dag_with_a_young_task_stays_and_can_be_run_again() {
        keep(Retention.of(DAY));
        WorkerId worker = join();
        Claimed first = start(worker, List.of(task("a"))).handed().getFirst();
        complete(worker, first, 0);
        complete(worker, claimOne(worker), 0);
        advance(DAY.minus(SECOND));
        assertThat(remove()).isZero();
        assertThat(apply(Lane.client(0), new Change.Rerun(RunId.of("dag"), List.of(RunId.of("a")), 5)))
                .isInstanceOf(Outcome.Applied.class);
        advance(DAY);
        assertThat(remove()).isZero();
        assertThat(statesOf("dag", "a")).containsExactly(RunState.PENDING, RunState.READY);
    }

    // ---- what is remembered

    @Test
    void a_remembered_id_still_finds_its_run_and_result() {
        keep(Retention.of(DAY).rememberIds(DAY.multipliedBy(10)));
        WorkerId worker = join();
        NewRun start = newRun("a");
        RunRef run = ended(worker, start);
        advance(DAY);

        assertThat(remove()).isEqualTo(1);
        assertThat(remove()).isZero();
        assertThat(journalOf(run)).isEmpty();
        assertThat(stateOf(run)).isEqualTo(RunState.COMPLETED);
        assertThat(store().runs().ended(List.of(run)))
                .containsExactly(new Runs.Ended(run, RunState.COMPLETED, payload("\"done\""), ""));
        assertThat(apply(Lane.client(0), new Change.Start(withInput(newRun("a"), start.input()), null)))
                .isEqualTo(new Outcome.Existing(run, DEFINITION, true));
        advance(DAY.multipliedBy(9));
        assertThat(remove()).isEqualTo(1);
        assertThat(exists("a")).isFalse();
    }

    @Test
    void what_is_remembered_only_cannot_be_run_again() {
        keep(Retention.of(DAY).rememberIds(DAY.multipliedBy(10)));
        WorkerId worker = join();
        Claimed first = start(worker, List.of(task("a"))).handed().getFirst();
        complete(worker, first, 0);
        complete(worker, claimOne(worker), 0);
        advance(DAY);

        assertThat(remove()).isEqualTo(2);
        assertThat(apply(Lane.client(0), new Change.Rerun(RunId.of("dag"), List.of(RunId.of("a")), 5)))
                .isEqualTo(Outcome.Refused.removed(RunId.of("dag")));
        advance(DAY.multipliedBy(9));
        assertThat(remove()).isEqualTo(2);
        assertThat(exists("a")).isFalse();
    }

    @Test
    void what_is_remembered_only_is_neither_retried_nor_repaired() {
        keep(Retention.of(DAY).rememberIds(DAY.multipliedBy(10)));
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, new Move.End(RunState.FAILED, payload("1"), "no"), step(1, "1")));
        RunRef completed = ended(worker, "b");
        Instant ended = found(run).info().changedAt();
        advance(DAY);
        assertThat(remove()).isEqualTo(2);

        assertThat(apply(Lane.client(0), new Change.Retry(run.id(), ended)))
                .isEqualTo(Outcome.Refused.removed(run.id()));
        for (RunRef each : List.of(run, completed)) {
            Audit audit = new Audit(
                    UUID.randomUUID(),
                    Operator.named("anna"),
                    Action.REPAIR,
                    Subject.RUN,
                    each.id().value(),
                    1,
                    "why");
            assertThat(apply(Lane.client(0), new Change.Repair(each.id(), 1, Entry.Status.VALUE, payload("2"), audit)))
                    .isEqualTo(Outcome.Refused.removed(each.id()));
            assertThat(journalOf(each)).isEmpty();
        }
    }

    @Test
    void a_run_that_was_started_without_an_answer_stays_for_an_hour() {
        keep(Retention.of(SECOND));
        WorkerId worker = join();
        NewRun start = newRun("a").withAdmission(Admission.UNCONDITIONAL.withKey(null, true));
        RunRef run = startReady(start);
        apply(worker, advance(claimOne(worker).run(), 1, complete("1")));
        advance(Duration.ofMinutes(59));

        assertThat(remove()).isZero();
        assertThat(apply(Lane.client(0), new Change.Start(start, null))).isInstanceOf(Outcome.Started.class);
        assertThat(stateOf(run)).isEqualTo(RunState.COMPLETED);
        advance(Duration.ofMinutes(1));
        assertThat(remove()).isEqualTo(1);
    }

    @Test
    void a_run_stays_while_a_start_key_names_it() {
        keep(Retention.of(DAY));
        WorkerId worker = join();
        StartKey key = StartKey.idempotencyKey("k", DAY.multipliedBy(5));
        NewRun start = newRun("a").withAdmission(Admission.UNCONDITIONAL.withKey(key, false));
        RunRef run = startReady(start);
        apply(worker, advance(claimOne(worker).run(), 1, complete("1")));
        advance(DAY.multipliedBy(4));
        polled(worker, 1);

        assertThat(remove()).isZero();
        NewRun second =
                withInput(newRun("b"), start.input()).withAdmission(Admission.UNCONDITIONAL.withKey(key, false));
        assertThat(apply(Lane.client(0), new Change.Start(second, null)))
                .isEqualTo(new Outcome.Existing(run, DEFINITION, true));
        advance(DAY.multipliedBy(2));
        polled(worker, 1);
        assertThat(remove()).isEqualTo(1);
    }

    @Test
    void only_runs_that_nothing_keeps_count_as_due() {
        keep(Retention.of(DAY));
        WorkerId worker = join();
        RunRef parent = startOwned(worker, "parent");
        startChild(worker, parent, "child", true);
        apply(worker, advance(claimOne(worker).run(), 1, complete("1")));
        StartKey key = StartKey.idempotencyKey("k", DAY.multipliedBy(5));
        startReady(newRun("named").withAdmission(Admission.UNCONDITIONAL.withKey(key, false)));
        apply(worker, advance(claimOne(worker).run(), 1, complete("1")));
        advance(DAY.multipliedBy(2));
        assertThat(store().status().removal().due()).isZero();
        assertThat(store().status().removal().first()).isEmpty();

        ended(worker, "plain");
        apply(worker, advance(parent, 1, complete("1")));
        advance(DAY);
        assertThat(store().status().removal().due()).isEqualTo(2);
        assertThat(store().status().removal().first()).contains(RunId.of("parent"));
    }

    @Test
    void a_run_of_many_lives_forgets_the_tokens_of_messages_after_an_hour() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Mail early = mail(Channel.message("news"), "1");
        Mail unread = mail(Channel.message("news"), "2");
        deliver(run, early);
        deliver(run, unread);
        advance(Removals.COPIES);
        Mail late = mail(Channel.message("news"), "3");
        deliver(run, late);
        List<Effect> taken = List.of(new Effect.Take(1), new Effect.Take(3));
        apply(worker, advance(run, 1, STAY, taken, step(1, "1")));
        assertThat(deliver(run, early)).isInstanceOf(Outcome.AlreadyThere.class);
        advance(SECOND);
        apply(worker, advance(run, 1, new Move.Restart(payload("2"), 77)));

        assertThat(deliver(run, late)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(deliver(run, unread)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(unread(run)).containsExactly("2");
        assertThat(deliver(run, early)).isInstanceOf(Outcome.Applied.class);
    }

    @Test
    void a_run_of_many_lives_keeps_its_first_and_its_last_changes() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        long epoch = 1;
        int lives = Removals.CHANGES_KEPT;
        for (int i = 0; i < lives; i++) {
            apply(worker, advance(run, epoch, new Move.Restart(payload("2"), 77 + i)));
            epoch = claimOne(worker).epoch();
        }

        assertThat(changesOf(run)).hasSizeBetween(Removals.CHANGES_KEPT, Removals.CHANGES_KEPT + 10);
        assertThat(changesOf(run)).startsWith("RUNNING").endsWith("RUNNING");
    }

    @Test
    void an_object_can_be_called_again_when_all_its_calls_are_gone() {
        keep(Retention.of(DAY));
        WorkerId worker = join();
        ObjectCall call = new ObjectCall(new ObjectKey("cart", "ann"), Hold.EXCLUSIVE);
        for (int day = 0; day < 2; day++) {
            RunRef first = startOwned(worker, newRun("first").on(call));
            RunRef second = startReady(newRun("second").on(call));
            assertThat(stateOf(second)).isEqualTo(RunState.PENDING);
            apply(worker, advance(first, 1, complete("1")));
            apply(worker, advance(claimOne(worker).run(), 1, complete("1")));
            advance(DAY);
            assertThat(remove()).isEqualTo(2);
        }
    }
}
