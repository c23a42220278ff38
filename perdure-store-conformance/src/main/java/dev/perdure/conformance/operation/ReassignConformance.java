package dev.perdure.conformance.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.audit.AuditFilter;
import dev.perdure.audit.Operator;
import dev.perdure.conformance.dag.DagConformance;
import dev.perdure.queue.Queue;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Runs are moved to another queue or version. */
public abstract class ReassignConformance extends DagConformance {
    private static final String OTHER = "other";

    /** For subclasses. */
    protected ReassignConformance() {}

    private Change move(String run, @Nullable String queue, @Nullable String version) {
        Audit audit = new Audit(UUID.randomUUID(), Operator.named("anna"), Action.MOVE, Subject.RUN, run, 0, "why");
        return new Change.Reassign(RunId.of(run), queue, version, audit, seen(run));
    }

    private Outcome moved(String run, @Nullable String queue, @Nullable String version) {
        return apply(Lane.client(0), move(run, queue, version));
    }

    private String refusal(String run, @Nullable String queue, @Nullable String version) {
        return assertThat(moved(run, queue, version))
                .isInstanceOf(Outcome.Refused.class)
                .extracting(outcome -> ((Outcome.Refused) outcome).reason())
                .actual();
    }

    private List<String> claimed(WorkerId worker, String queue, @Nullable String version) {
        return claimedIds(new Poll(worker, Set.of(DEFINITION), Set.of(queue), version, 10, true));
    }

    private List<String> entries() {
        return store().runs().audited(AuditFilter.all()).reversed().stream()
                .map(AuditEntry::text)
                .toList();
    }

    private List<String> selected(RunFilter filter) {
        return store().runs().list(filter).stream()
                .map(RunInfo::id)
                .map(RunId::value)
                .toList();
    }

    @Test
    void a_ready_run_waits_in_the_other_queue() {
        WorkerId worker = join();
        startReady("a");

        assertThat(moved("a", OTHER, null)).isEqualTo(new Outcome.Applied(now(), RunState.READY));
        assertThat(claimed(worker, QUEUE, null)).isEmpty();
        assertThat(selected(RunFilter.all().queue(OTHER))).containsExactly("a");
        assertThat(claimed(worker, OTHER, null)).containsExactly("a");
        assertThat(entries()).containsExactly("MOVE run 'a' by anna: why");
    }

    @Test
    void a_run_that_has_got_the_id_since_another_was_seen_is_not_moved() {
        startReady("a");
        Change earlier = move("a", OTHER, null);
        free("a");
        startReady("a");

        assertThat(apply(Lane.client(0), earlier)).isEqualTo(new Outcome.UnknownRun());
        assertThat(selected(RunFilter.all().queue(OTHER))).isEmpty();
    }

    @Test
    void a_run_that_has_not_begun_or_is_paused_gets_another_version() {
        WorkerId worker = join(Set.of(DEFINITION), "v2");
        startReady("a");
        RunRef paused = startOwned(join(), "b");
        apply(Lane.client(0), new Change.Command(paused.id(), CommandKind.PAUSE, "why"));
        assertThat(refusal("b", null, "v2"))
                .isEqualTo("The run 'b' is RUNNING, so it cannot be moved now. Pause it, move it, and resume it.");
        RunRef resting = startOwned(worker, "c");
        apply(worker, advance(resting, 1, new Move.Recover("broken")));
        assertThat(refusal("c", null, "v2"))
                .isEqualTo("The run 'c' has begun under its version. Pause it, move it, and resume it.");
        apply(Lane.client(0), new Change.Command(resting.id(), CommandKind.PAUSE, "why"));

        assertThat(moved("a", null, "v2")).isInstanceOf(Outcome.Applied.class);
        assertThat(moved("c", null, "v2")).isEqualTo(new Outcome.Applied(now(), RunState.PAUSED));
        apply(Lane.client(0), new Change.Command(resting.id(), CommandKind.RESUME, ""));
        assertThat(claimed(join(), QUEUE, null)).isEmpty();
        assertThat(claimed(worker, QUEUE, "v2")).containsExactlyInAnyOrder("a", "c");
    }

    @Test
    void a_move_that_is_sent_again_or_changes_nothing_leaves_one_entry() {
        startReady("a");
        Change move = move("a", OTHER, null);
        assertThat(apply(Lane.client(0), move)).isInstanceOf(Outcome.Applied.class);
        assertThat(moved("a", QUEUE, null)).isInstanceOf(Outcome.Applied.class);

        assertThat(apply(Lane.client(0), move)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(moved("a", QUEUE, null)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(moved("nobody", QUEUE, null)).isEqualTo(new Outcome.UnknownRun());
        assertThat(selected(RunFilter.all().queue(QUEUE))).containsExactly("a");
        assertThat(entries()).hasSize(2);
    }

    @Test
    void the_place_in_the_old_queue_is_free_and_one_in_the_new_queue_is_needed() {
        store().queues()
                .declare(List.of(
                        Queue.named(QUEUE).concurrency(1), Queue.named(OTHER).concurrency(1)));
        WorkerId worker = join();
        RunRef first = startReady("a");
        startReady("b");
        RunRef rival = startReady(newRun("c").in(OTHER, null));
        assertThat(claimed(worker, QUEUE, null)).containsExactly("a");
        assertThat(claimed(worker, OTHER, null)).containsExactly("c");
        apply(worker, advance(first, 1, new Move.Recover("broken")));
        assertThat(moved("a", OTHER, null)).isInstanceOf(Outcome.Applied.class);

        assertThat(claimed(worker, QUEUE, null)).containsExactly("b");
        assertThat(claimed(worker, OTHER, null)).isEmpty();
        apply(worker, advance(rival, 1, complete("1")));
        assertThat(claimed(worker, OTHER, null)).containsExactly("a");
    }

    @Test
    void a_run_that_has_ended_or_belongs_to_a_dag_stays_where_it_is() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, complete("1")));
        start(null, List.of(task("t")));

        assertThat(refusal("a", OTHER, null))
                .isEqualTo("The run 'a' has ended (COMPLETED). Only a run that has not ended is moved.");
        assertThat(refusal("t", OTHER, null))
                .isEqualTo(
                        "The run 't' belongs to a DAG or calls a virtual object, and stays where it is. Start it anew with other options.");
        assertThat(entries()).isEmpty();
    }
}
