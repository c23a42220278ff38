package dev.perdure.conformance.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartKey;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.audit.AuditFilter;
import dev.perdure.audit.Operator;
import dev.perdure.conformance.StoreConformance;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Entry.Kind;
import dev.perdure.spi.change.Entry.Status;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Answers of steps that an operator replaces. */
public abstract class RepairConformance extends StoreConformance {
    private static final Move FAIL = new Move.End(RunState.FAILED, payload("\"no\""), "it failed");

    /** For subclasses. */
    protected RepairConformance() {}

    private static Entry entry(int position, int note, Kind kind, Status status, String json) {
        return new Entry(position, note, kind, "call" + position, status, payload(json));
    }

    private static Change.Repair repair(RunRef run, int position, Status status, String json) {
        Audit audit = new Audit(
                UUID.randomUUID(),
                Operator.named("anna"),
                Action.REPAIR,
                Subject.RUN,
                run.id().value(),
                position,
                "why");
        return new Change.Repair(run.id(), position, status, payload(json), audit);
    }

    private Outcome apply(Change change) {
        return apply(Lane.client(0), change);
    }

    /** A run that is paused after these entries. */
    private RunRef paused(WorkerId worker, String id, Entry... entries) {
        RunRef run = startOwned(worker, id);
        apply(worker, advance(run, 1, STAY, entries));
        apply(worker, advance(run, 1, new Move.Pause("look at it")));
        return run;
    }

    private List<String> entriesOfAudit() {
        return store().runs().audited(AuditFilter.all()).stream()
                .map(AuditEntry::text)
                .toList();
    }

    private String refusal(Change change) {
        Outcome outcome = apply(change);
        assertThat(outcome).isInstanceOf(Outcome.Refused.class);
        return ((Outcome.Refused) outcome).reason();
    }

    @Test
    void the_result_of_a_step_is_replaced_and_the_rest_stays() {
        WorkerId worker = join();
        RunRef run = paused(worker, "a", step(1, "1"), step(2, "2"), step(3, "3"));
        advance(Duration.ofSeconds(1));

        assertThat(apply(repair(run, 2, Status.VALUE, "22"))).isEqualTo(new Outcome.Applied(now(), RunState.PAUSED));
        Entry repaired = new Entry(2, 0, Kind.STEP, step(2, "2").name(), Status.VALUE, payload("22"));
        assertThat(journalOf(run)).containsExactly(step(1, "1"), repaired, step(3, "3"));
        assertThat(entriesOfAudit()).containsExactly("REPAIR run 'a' #2 by anna: why");
        command(run, CommandKind.RESUME, "");
        Claimed claimed = claimOne(worker);
        assertThat(apply(worker, advance(run, claimed.epoch(), complete("4"), step(4, "4"))))
                .isInstanceOf(Outcome.Applied.class);
    }

    @Test
    void a_step_that_is_stuck_gets_its_outcome() {
        WorkerId worker = join();
        Entry attempt = entry(1, 1, Kind.STEP, Status.ATTEMPT, "1");
        RunRef run = paused(worker, "a", attempt);

        assertThat(apply(repair(run, 1, Status.FAILURE, "\"by hand\""))).isInstanceOf(Outcome.Applied.class);
        assertThat(journalOf(run))
                .containsExactlyInAnyOrder(attempt, entry(1, 0, Kind.STEP, Status.FAILURE, "\"by hand\""));
    }

    @Test
    void a_failed_run_is_repaired_and_then_retried_behind_its_last_entry() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, STAY, step(1, "1")));
        advance(Duration.ofSeconds(1));
        apply(worker, advance(run, 1, FAIL, entry(2, 0, Kind.STEP, Status.FAILURE, "1")));
        advance(Duration.ofSeconds(1));

        assertThat(apply(repair(run, 2, Status.VALUE, "2"))).isEqualTo(new Outcome.Applied(now(), RunState.FAILED));
        assertThat(apply(new Change.Retry(run.id(), found(run).info().changedAt())))
                .isInstanceOf(Outcome.Applied.class);
        assertThat(journalOf(run)).containsExactly(step(1, "1"), entry(2, 0, Kind.STEP, Status.VALUE, "2"));
    }

    @Test
    void a_failed_run_that_could_not_be_retried_is_not_repaired() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Entry failed = entry(1, 0, Kind.STEP, Status.FAILURE, "1");
        apply(worker, advance(run, 1, STAY, failed));
        advance(Duration.ofSeconds(1));
        apply(worker, advance(run, 1, FAIL, step(2, "2")));

        assertThat(refusal(repair(run, 1, Status.VALUE, "1"))).contains("was recorded after the failure of");
        assertThat(journalOf(run)).containsExactly(failed, step(2, "2"));
        assertThat(entriesOfAudit()).isEmpty();
    }

    @Test
    void a_failed_run_whose_deduplication_key_another_run_has_is_not_repaired() {
        WorkerId worker = join();
        Admission keyed = Admission.UNCONDITIONAL.withKey(StartKey.deduplicate("k"), false);
        RunRef run = startOwned(worker, newRun("a").withAdmission(keyed));
        apply(worker, advance(run, 1, FAIL, step(1, "1")));
        startOwned(worker, newRun("b").withAdmission(keyed));

        assertThat(refusal(repair(run, 1, Status.VALUE, "2")))
                .startsWith("The run 'b' has its deduplication key 'k' now");
        assertThat(journalOf(run)).containsExactly(step(1, "1"));
    }

    @Test
    void a_failure_by_hand_stays_when_the_run_is_retried() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Entry attempt = entry(1, 1, Kind.STEP, Status.ATTEMPT, "1");
        apply(worker, advance(run, 1, FAIL, attempt, entry(1, 0, Kind.STEP, Status.FAILURE, "1")));
        Entry byHand = entry(1, 0, Kind.STEP, Status.FAILURE, "\"by hand\"");

        assertThat(apply(repair(run, 1, Status.FAILURE, "\"by hand\""))).isInstanceOf(Outcome.Applied.class);
        retry(run);
        assertThat(journalOf(run)).containsExactlyInAnyOrder(byHand, attempt);
    }

    @Test
    void the_call_that_failed_begins_anew_after_the_repair_of_another_step() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Entry stuck = entry(3, 1, Kind.STEP, Status.ATTEMPT, "3");
        apply(worker, advance(run, 1, STAY, entry(1, 0, Kind.STEP, Status.FAILURE, "1"), stuck));
        advance(Duration.ofSeconds(1));
        Entry failed = entry(2, 0, Kind.STEP, Status.FAILURE, "2");
        apply(worker, advance(run, 1, FAIL, failed));

        apply(repair(run, 3, Status.VALUE, "3"));
        apply(repair(run, 1, Status.FAILURE, "\"by hand\""));
        retry(run);
        Entry[] kept = {
            entry(1, 0, Kind.STEP, Status.FAILURE, "\"by hand\""), stuck, entry(3, 0, Kind.STEP, Status.VALUE, "3")
        };
        assertThat(journalOf(run)).containsExactlyInAnyOrder(kept);
        advance(Duration.ofSeconds(1));
        Claimed claimed = claimOne(worker);
        apply(worker, advance(run, claimed.epoch(), FAIL, failed));
        retry(run);
        assertThat(journalOf(run)).containsExactlyInAnyOrder(kept);
    }

    @Test
    void a_run_that_fails_again_in_the_moment_of_its_repair_is_retried_from_the_new_failure() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, FAIL, entry(1, 0, Kind.STEP, Status.FAILURE, "1")));
        apply(repair(run, 1, Status.VALUE, "1"));
        retry(run);
        Claimed claimed = claimOne(worker);
        apply(worker, advance(run, claimed.epoch(), FAIL, entry(2, 0, Kind.STEP, Status.FAILURE, "2")));
        retry(run);

        assertThat(journalOf(run)).containsExactly(entry(1, 0, Kind.STEP, Status.VALUE, "1"));
    }

    private void retry(RunRef run) {
        assertThat(apply(new Change.Retry(run.id(), found(run).info().changedAt())))
                .isInstanceOf(Outcome.Applied.class);
    }

    @Test
    void a_repair_that_is_sent_again_does_not_undo_a_later_one() {
        RunRef run = paused(join(), "a", step(1, "1"));
        Change.Repair first = repair(run, 1, Status.VALUE, "11");
        apply(first);
        apply(repair(run, 1, Status.VALUE, "12"));

        assertThat(apply(first)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(journalOf(run)).extracting(Entry::payload).containsExactly(payload("12"));
        assertThat(entriesOfAudit()).hasSize(2);
    }

    @Test
    void a_run_that_a_worker_may_hold_is_not_repaired() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, STAY, step(1, "1")));

        assertThat(refusal(repair(run, 1, Status.VALUE, "2")))
                .isEqualTo(
                        "The run 'a' is RUNNING, so a worker may be at work on it. Pause it, repair it, and resume it.");
        apply(worker, advance(run, 1, new Move.Yield()));
        assertThat(refusal(repair(run, 1, Status.VALUE, "2"))).contains("is READY");
        Claimed claimed = claimOne(worker);
        apply(worker, advance(run, claimed.epoch(), complete("1")));
        assertThat(refusal(repair(run, 1, Status.VALUE, "2")))
                .isEqualTo("The run 'a' is COMPLETED, and its result stays. Fork it instead.");
        assertThat(journalOf(run)).containsExactly(step(1, "1"));
        assertThat(entriesOfAudit()).isEmpty();
    }

    @Test
    void only_steps_that_have_begun_are_repaired() {
        Entry child = entry(1, 1, Kind.CHILD, Status.BEGUN, "1");
        RunRef run = paused(join(), "a", child);
        assertThat(refusal(repair(run, 1, Status.VALUE, "2")))
                .isEqualTo(
                        "The run 'a' has recorded no step at position 1. The history shows its steps, with their attempts; for any other call, fork the run.");
        assertThat(refusal(repair(run, 2, Status.VALUE, "2"))).contains("no step at position 2");
        RunRef nobody = new RunRef(RunId.of("nobody"), 1);
        assertThat(apply(repair(nobody, 1, Status.VALUE, "2"))).isEqualTo(new Outcome.UnknownRun());
        assertThat(journalOf(run)).containsExactly(child);
    }

    @Test
    void a_failed_run_whose_caller_has_got_the_outcome_is_not_repaired() {
        WorkerId worker = join();
        RunRef parent = startOwned(worker, "parent");
        Effect start = new Effect.Start(child("child", parent, 1, true));
        apply(worker, advance(parent, 1, STAY, List.of(start), entry(1, 1, Kind.CHILD, Status.BEGUN, "1")));
        Claimed child = claimOne(worker);
        apply(worker, advance(child.run(), 1, FAIL, step(1, "1")));

        assertThat(refusal(repair(child.run(), 1, Status.VALUE, "2"))).contains("has got the outcome of 'child'");
    }
}
