package dev.perdure.conformance.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StartKey;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.audit.AuditFilter;
import dev.perdure.audit.Operator;
import dev.perdure.conformance.dag.DagConformance;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Operators delete runs that have ended, before their retention is over. */
public abstract class DeletionConformance extends DagConformance {
    /** For subclasses. */
    protected DeletionConformance() {}

    private static Audit entry(String run) {
        return new Audit(UUID.randomUUID(), Operator.named("anna"), Action.DELETE, Subject.RUN, run, 0, "why");
    }

    private Outcome delete(String run) {
        return store().removals().delete(RunId.of(run), seen(run), entry(run));
    }

    private String refusal(String run) {
        return assertThat(delete(run))
                .isInstanceOf(Outcome.Refused.class)
                .extracting(outcome -> ((Outcome.Refused) outcome).reason())
                .actual();
    }

    private List<String> entries() {
        return store().runs().audited(AuditFilter.all()).reversed().stream()
                .map(AuditEntry::text)
                .toList();
    }

    private List<String> there() {
        return store().runs().list(RunFilter.all().limit(1_000)).stream()
                .map(RunInfo::id)
                .map(RunId::value)
                .toList();
    }

    private RunRef ended(WorkerId worker, String id) {
        RunRef run = startOwned(worker, id);
        apply(worker, advance(run, 1, complete("1"), step(1, "1")));
        return run;
    }

    @Test
    void a_run_that_has_ended_goes_with_everything_and_leaves_an_entry() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        deliver(run, mail(Channel.message("news"), "\"hello\""));
        apply(
                worker,
                advance(
                        run,
                        1,
                        complete("1"),
                        List.of(new Effect.Publish("progress", 1, payload("1")), new Effect.Awakeable("hash", 2)),
                        step(1, "1")));
        ended(worker, "b");

        assertThat(delete("a")).isEqualTo(new Outcome.Applied(now(), RunState.COMPLETED));
        assertThat(there()).containsExactly("b");
        assertThat(journalOf(run)).isEmpty();
        assertThat(changesOf(run)).isEmpty();
        assertThat(unread(run)).isEmpty();
        assertThat(store().mailboxes().latest(run, "progress")).isEmpty();
        assertThat(store().mailboxes().awakeable("hash")).isEmpty();
        assertThat(entries()).containsExactly("DELETE run 'a' by anna: why");
        assertThat(delete("a")).isEqualTo(new Outcome.UnknownRun());
        assertThat(stateOf(startReady("a"))).isEqualTo(RunState.READY);
    }

    @Test
    void a_run_that_has_not_ended_stays() {
        WorkerId worker = join();
        startOwned(worker, "a");

        assertThat(refusal("a"))
                .isEqualTo("The run 'a' is RUNNING. Only a run that has ended is deleted. Cancel or kill it first.");
        assertThat(there()).containsExactly("a");
        assertThat(entries()).isEmpty();
    }

    @Test
    void a_delete_that_is_sent_again_leaves_another_run_alone_that_has_got_the_id() {
        WorkerId worker = join();
        ended(worker, "a");
        Audit entry = entry("a");
        assertThat(store().removals().delete(RunId.of("a"), seen("a"), entry)).isInstanceOf(Outcome.Applied.class);
        RunRef other = startReady("a");
        apply(worker, advance(claimOne(worker).run(), 1, complete("1")));

        assertThat(store().removals().delete(RunId.of("a"), seen("a"), entry)).isEqualTo(new Outcome.UnknownRun());
        assertThat(stateOf(other)).isEqualTo(RunState.COMPLETED);
        assertThat(entries()).hasSize(1);
    }

    @Test
    void a_run_that_has_ended_once_more_since_it_was_seen_stays() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, new Move.End(RunState.FAILED, payload("1"), "no")));
        Change.Seen seen = seen("a");
        advance(Duration.ofSeconds(1));
        apply(Lane.client(0), new Change.Retry(run.id(), seen.changedAt()));
        Claimed retried = claimOne(worker);
        apply(worker, advance(run, retried.epoch(), complete("1")));

        assertThat(store().removals().delete(run.id(), seen, entry("a"))).isEqualTo(new Outcome.UnknownRun());
        assertThat(stateOf(run)).isEqualTo(RunState.COMPLETED);
        assertThat(entries()).isEmpty();
        assertThat(delete("a")).isInstanceOf(Outcome.Applied.class);
    }

    @Test
    void a_run_that_has_got_the_id_since_another_was_seen_stays() {
        WorkerId worker = join();
        ended(worker, "a");
        Change.Seen seen = seen("a");
        free("a");
        ended(worker, "a");

        assertThat(store().removals().delete(RunId.of("a"), seen, entry("a"))).isEqualTo(new Outcome.UnknownRun());
        assertThat(there()).containsExactly("a");
        assertThat(entries()).hasSize(1);
    }

    @Test
    void a_parent_takes_its_children_with_it_when_they_have_ended() {
        WorkerId worker = join();
        RunRef parent = startOwned(worker, "parent");
        apply(
                worker,
                advance(parent, 1, STAY, List.of(new Effect.Start(child("child", parent, 1, false))), step(1, "1")));
        Claimed child = claimOne(worker);
        apply(worker, advance(parent, 1, complete("1")));
        assertThat(refusal("parent"))
                .isEqualTo(
                        "A run below 'parent' has not ended, or a start key names it. Cancel or kill what has not ended first.");
        apply(worker, advance(child.run(), 1, complete("1")));
        assertThat(refusal("child"))
                .isEqualTo("The run 'child' belongs to the run 'parent', and goes with it. Delete that one.");

        assertThat(delete("parent")).isInstanceOf(Outcome.Applied.class);
        assertThat(there()).isEmpty();
        assertThat(entries()).containsExactly("DELETE run 'parent' by anna: why");
    }

    @Test
    void a_run_with_more_tasks_than_fit_into_a_batch_goes_as_a_whole() {
        WorkerId worker = join();
        List<Task> tasks = IntStream.range(0, 130).mapToObj(i -> task("t" + i)).toList();
        start(worker, tasks).handed().forEach(task -> complete(worker, task, 0));
        complete(worker, claimOne(worker), 0);
        ended(worker, "other");

        assertThat(delete("dag")).isInstanceOf(Outcome.Applied.class);
        assertThat(there()).containsExactly("other");
        assertThat(entries()).hasSize(1);
    }

    @Test
    void what_recognises_a_second_copy_stays() {
        WorkerId worker = join();
        startReady(newRun("unanswered").withAdmission(Admission.UNCONDITIONAL.withKey(null, true)));
        apply(worker, advance(claimOne(worker).run(), 1, complete("1")));
        StartKey key = StartKey.idempotencyKey("k", Duration.ofDays(5));
        NewRun keyed = newRun("keyed").withAdmission(Admission.UNCONDITIONAL.withKey(key, false));
        assertThat(apply(Lane.client(0), new Change.Start(keyed, null))).isInstanceOf(Outcome.Started.class);
        apply(worker, advance(claimOne(worker).run(), 1, complete("1")));

        assertThat(refusal("unanswered"))
                .isEqualTo(
                        "The run 'unanswered' was started without an answer less than PT1H ago, and a second copy of the request may arrive. Delete it later.");
        assertThat(refusal("keyed"))
                .isEqualTo(
                        "A start key names the run 'keyed', so that a repeated start finds it. Delete it when the key is free.");
        advance(Duration.ofHours(1));
        assertThat(delete("unanswered")).isInstanceOf(Outcome.Applied.class);
    }
}
