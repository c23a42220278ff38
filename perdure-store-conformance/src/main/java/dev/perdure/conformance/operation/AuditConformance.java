package dev.perdure.conformance.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.audit.AuditFilter;
import dev.perdure.audit.Operator;
import dev.perdure.conformance.dag.DagConformance;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.Queue;
import dev.perdure.retention.Retention;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Dispatch.Signalled;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Permits;
import dev.perdure.spi.QueueRules;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Commands of operators leave an entry in the audit, in the transaction in which they take effect. */
public abstract class AuditConformance extends DagConformance {
    private static final Operator ANNA = Operator.named("anna").from("shop-1");

    /** For subclasses. */
    protected AuditConformance() {}

    private static Audit audit(Action action, Subject subject, String name, int position) {
        return new Audit(UUID.randomUUID(), ANNA, action, subject, name, position, "why");
    }

    private static Audit audit(Action action, RunRef run) {
        return audit(action, Subject.RUN, run.id().value(), 0);
    }

    private Outcome command(RunRef run, CommandKind kind) {
        Audit audit = audit(Action.valueOf(kind.name()), run);
        return apply(Lane.client(0), new Change.Command(run.id(), kind, "why", audit));
    }

    private List<String> entries() {
        return store().runs().audited(AuditFilter.all()).reversed().stream()
                .map(AuditEntry::text)
                .toList();
    }

    @Test
    void an_entry_tells_who_did_what_when_and_from_where() {
        RunRef run = startOwned(join(), "a");
        Audit audit = audit(Action.PAUSE, run);
        apply(Lane.client(0), new Change.Command(run.id(), CommandKind.PAUSE, "why", audit));

        assertThat(store().runs().audited(AuditFilter.all())).containsExactly(audit.at(now()));
        assertThat(entries()).containsExactly("PAUSE run 'a' by anna@shop-1: why");
    }

    @Test
    void a_command_that_changes_nothing_leaves_no_entry() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        command(run, CommandKind.RESUME);
        assertThat(command(run, CommandKind.CANCEL)).isInstanceOf(Outcome.Commanded.class);
        command(run, CommandKind.CANCEL);
        apply(worker, advance(run, 1, complete("1")));
        command(run, CommandKind.KILL);
        Audit nobody = audit(Action.KILL, Subject.RUN, "nobody", 0);
        apply(Lane.client(0), new Change.Command(RunId.of("nobody"), CommandKind.KILL, "why", nobody));

        assertThat(entries()).containsExactly("CANCEL run 'a' by anna@shop-1: why");
    }

    @Test
    void a_command_that_waits_for_the_worker_is_recorded_again_only_with_another_reason() {
        RunRef run = startOwned(join(), "a");
        for (CommandKind kind : List.of(CommandKind.PAUSE, CommandKind.KILL)) {
            command(run, kind);
            command(run, kind);
            Audit another = new Audit(
                    UUID.randomUUID(), ANNA, Action.valueOf(kind.name()), Subject.RUN, "a", 0, "another reason");
            apply(Lane.client(0), new Change.Command(run.id(), kind, "another reason", another));
        }

        assertThat(found(run).info().state()).isEqualTo(RunState.RUNNING);
        assertThat(entries())
                .containsExactlyInAnyOrder(
                        "PAUSE run 'a' by anna@shop-1: why",
                        "PAUSE run 'a' by anna@shop-1: another reason",
                        "KILL run 'a' by anna@shop-1: why",
                        "KILL run 'a' by anna@shop-1: another reason");
    }

    @Test
    void what_the_engine_does_by_itself_leaves_no_entry() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        RunRef other = startOwned(worker, "b");
        command(run, CommandKind.PAUSE, "by the engine");
        apply(worker, advance(other, 1, STAY, List.of(new Effect.Cancel(run.id(), "by its parent")), step(1, "1")));

        assertThat(entries()).isEmpty();
    }

    @Test
    void a_command_that_is_sent_again_leaves_one_entry() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, new Move.End(RunState.FAILED, payload("1"), "no")));
        Audit retried = audit(Action.RETRY, run);
        Change retry = new Change.Retry(run.id(), found(run).info().changedAt(), retried);
        Change fork = new Change.Fork(run.id(), 1, RunId.of("b"), 7, null).auditedBy(audit(Action.FORK, run));
        for (int i = 0; i < 2; i++) {
            apply(Lane.client(0), retry);
            apply(Lane.client(0), fork);
        }

        assertThat(entries())
                .containsExactlyInAnyOrder("RETRY run 'a' by anna@shop-1: why", "FORK run 'a' by anna@shop-1: why");
    }

    @Test
    void a_command_that_is_sent_again_does_nothing_more_and_is_accepted_again() {
        WorkerId worker = join();
        RunRef ready = startOwned(worker, "a");
        apply(worker, advance(ready, 1, new Move.Recover("broken")));
        RunRef running = startOwned(worker, "b");
        Change pauseReady = new Change.Command(ready.id(), CommandKind.PAUSE, "why", audit(Action.PAUSE, ready));
        Change pauseRunning = new Change.Command(running.id(), CommandKind.PAUSE, "why", audit(Action.PAUSE, running));
        assertThat(apply(Lane.client(0), pauseReady)).isEqualTo(changed(RunState.PAUSED));
        assertThat(apply(Lane.client(0), pauseRunning)).isEqualTo(left(RunState.RUNNING));
        command(ready, CommandKind.RESUME);
        command(running, CommandKind.RESUME);

        assertThat(apply(Lane.client(0), pauseReady)).isEqualTo(left(RunState.READY));
        assertThat(apply(Lane.client(0), pauseRunning)).isEqualTo(left(RunState.RUNNING));
        assertThat(found(ready).info().state()).isEqualTo(RunState.READY);
        assertThat(polled(worker, 0).signalled())
                .containsExactly(new Signalled(running, 1, new Control(2, 0, null, null, null)));
    }

    @Test
    void a_retry_or_fork_that_is_refused_leaves_no_entry() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, complete("1")));
        Change retry = new Change.Retry(run.id(), found(run).info().changedAt(), audit(Action.RETRY, run));
        assertThat(apply(Lane.client(0), retry)).isInstanceOf(Outcome.Refused.class);
        Change fork = new Change.Fork(run.id(), 1, run.id(), 7, null).auditedBy(audit(Action.FORK, run));
        assertThat(apply(Lane.client(0), fork)).isInstanceOf(Outcome.Existing.class);

        assertThat(entries()).isEmpty();
    }

    @Test
    void tasks_that_begin_anew_leave_an_entry() {
        start(null, diamond());
        command(refOf("dag"), CommandKind.KILL, "no");
        Audit audit = audit(Action.RERUN, refOf("dag"));
        Change rerun = new Change.Rerun(RunId.of("dag"), List.of(RunId.of("a")), 77, null, audit);
        assertThat(apply(Lane.client(0), rerun)).isInstanceOf(Outcome.Applied.class);
        apply(Lane.client(0), rerun);
        Change tooEarly =
                new Change.Rerun(RunId.of("dag"), List.of(RunId.of("a")), 78, null, audit(Action.RERUN, refOf("dag")));
        assertThat(apply(Lane.client(0), tooEarly)).isInstanceOf(Outcome.Refused.class);

        assertThat(entries()).containsExactly("RERUN run 'dag' by anna@shop-1: why");
    }

    @Test
    void an_answer_leaves_an_entry_once_and_only_if_it_arrived() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Change answer = answer(run, Mail.value(Channel.answer(4), UUID.randomUUID(), payload("1")), 0, Action.RESOLVE);
        assertThat(apply(Lane.client(0), answer)).isInstanceOf(Outcome.Applied.class);
        assertThat(apply(Lane.client(0), answer)).isInstanceOf(Outcome.AlreadyThere.class);
        Mail taken = Mail.value(Channel.answer(4), UUID.randomUUID(), payload("2"));
        apply(Lane.client(0), answer(run, taken, 0, Action.RESOLVE));
        Mail otherLife = Mail.value(Channel.answer(5), UUID.randomUUID(), payload("2"));
        apply(Lane.client(0), answer(run, otherLife, 1, Action.RESOLVE));
        advance(Duration.ofSeconds(1));
        Mail no = Mail.failure(Channel.answer(6), UUID.randomUUID(), "no", Payload.EMPTY);
        apply(Lane.client(0), answer(run, no, 0, Action.REJECT));

        assertThat(entries())
                .containsExactly("RESOLVE run 'a' #4 by anna@shop-1: why", "REJECT run 'a' #6 by anna@shop-1: why");
    }

    @Test
    void a_message_that_came_with_the_start_is_recorded_when_it_is_sent_as_a_command() {
        Mail mail = Mail.value(Channel.message("commands"), UUID.randomUUID(), payload("1"));
        apply(Lane.client(0), new Change.Start(newRun("a"), null, List.of(mail)));
        Audit audit = audit(Action.CHANGE, Subject.SCHEDULE, "nightly", 0);
        Change told = new Change.Deliver(RunId.of("a"), mail, Change.Deliver.ANY_LIFE, audit);
        assertThat(apply(Lane.client(0), told)).isInstanceOf(Outcome.AlreadyThere.class);

        assertThat(entries()).containsExactly("CHANGE schedule 'nightly' by anna@shop-1: why");
    }

    private static Change answer(RunRef run, Mail mail, int life, Action action) {
        int position = mail.channel().position();
        return new Change.Deliver(
                run.id(), mail, life, audit(action, Subject.RUN, run.id().value(), position));
    }

    @Test
    void changes_of_queues_limiters_and_retention_leave_entries() {
        store().queues().declare(List.of(Queue.named("q").concurrency(5)));
        store().permits().declare(List.of(Limiter.named("l").concurrency(5)));
        Audit pause = audit(Action.PAUSE, Subject.QUEUE, "q", 0);
        store().queues().apply(new QueueRules.Order.Pause("q", "why"), pause);
        advance(Duration.ofSeconds(1));
        store().queues()
                .apply(new QueueRules.Order.Pause("none", "why"), audit(Action.PAUSE, Subject.QUEUE, "none", 0));
        store().permits().apply(new Permits.Order.Limit(Limiter.named("l").concurrency(2)), null);
        store().permits().apply(new Permits.Order.Reset("l"), audit(Action.RESET, Subject.LIMITER, "l", 0));
        store().permits().apply(new Permits.Order.Reset("none"), audit(Action.RESET, Subject.LIMITER, "none", 0));
        advance(Duration.ofSeconds(1));
        store().removals().change(Retention.days(3), audit(Action.CHANGE, Subject.RETENTION, "", 0));

        assertThat(entries())
                .containsExactly(
                        "PAUSE queue 'q' by anna@shop-1: why",
                        "RESET limiter 'l' by anna@shop-1: why",
                        "CHANGE retention by anna@shop-1: why");
        assertThat(store().runs().audited(AuditFilter.all().of(Subject.QUEUE, "q")))
                .containsExactly(pause.at(now().minusSeconds(2)));
        assertThat(store().runs().audited(AuditFilter.run("q"))).isEmpty();
    }

    @Test
    void what_changes_no_queue_limiter_or_retention_leaves_no_entry() {
        Queue queue = Queue.named("q").concurrency(5);
        Limiter limiter = Limiter.named("l").concurrency(5);
        store().queues().declare(List.of(queue));
        store().permits().declare(List.of(limiter));
        assertThat(store().queues()
                        .apply(new QueueRules.Order.Resume("q"), audit(Action.RESUME, Subject.QUEUE, "q", 0)))
                .isTrue();
        assertThat(store().queues().apply(new QueueRules.Order.Reset("q"), audit(Action.RESET, Subject.QUEUE, "q", 0)))
                .isTrue();
        assertThat(store().permits()
                        .apply(new Permits.Order.Resume("l"), audit(Action.RESUME, Subject.LIMITER, "l", 0)))
                .isTrue();
        assertThat(store().permits().apply(new Permits.Order.Reset("l"), audit(Action.RESET, Subject.LIMITER, "l", 0)))
                .isTrue();
        store().removals().change(null, audit(Action.RESET, Subject.RETENTION, "", 0));
        assertThat(entries()).isEmpty();

        for (int i = 0; i < 2; i++) {
            store().queues().apply(new QueueRules.Order.Pause("q", "why"), audit(Action.PAUSE, Subject.QUEUE, "q", 0));
            store().queues().apply(new QueueRules.Order.Limit(queue), audit(Action.CHANGE, Subject.QUEUE, "q", 0));
            store().permits().apply(new Permits.Order.Pause("l", "why"), audit(Action.PAUSE, Subject.LIMITER, "l", 0));
            store().permits().apply(new Permits.Order.Limit(limiter), audit(Action.CHANGE, Subject.LIMITER, "l", 0));
            store().removals().change(Retention.days(3), audit(Action.CHANGE, Subject.RETENTION, "", 0));
        }
        assertThat(entries())
                .containsExactlyInAnyOrder(
                        "PAUSE queue 'q' by anna@shop-1: why",
                        "CHANGE queue 'q' by anna@shop-1: why",
                        "PAUSE limiter 'l' by anna@shop-1: why",
                        "CHANGE limiter 'l' by anna@shop-1: why",
                        "CHANGE retention by anna@shop-1: why");
    }

    @Test
    void entries_are_listed_page_by_page_the_newest_first() {
        List<RunRef> runs = IntStream.range(0, 7)
                .mapToObj(i -> startOwned(join(), "run" + i))
                .toList();
        runs.forEach(run -> command(run, CommandKind.CANCEL));
        AuditFilter page = AuditFilter.all().limit(3);
        List<AuditEntry> first = store().runs().audited(page);
        List<AuditEntry> second = store().runs().audited(page.after(first.getLast()));
        List<AuditEntry> third = store().runs().audited(page.after(second.getLast()));

        assertThat(first).hasSize(3);
        assertThat(second).hasSize(3);
        assertThat(third).hasSize(1).doesNotContainAnyElementsOf(first).doesNotContainAnyElementsOf(second);
        assertThat(store().runs().audited(page.after(third.getLast()))).isEmpty();
    }

    @Test
    void an_entry_outlives_its_run_and_has_a_period_of_its_own() {
        Duration day = Duration.ofDays(1);
        store().removals().declare(Retention.of(day).keepAudit(day.multipliedBy(3)));
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        command(run, CommandKind.CANCEL);
        apply(worker, advance(run, 1, complete("1")));
        advance(day.multipliedBy(2));
        removeAll();
        assertThat(store().runs().find(run.id())).isEmpty();
        assertThat(entries()).hasSize(1);
        advance(day);
        removeAll();
        assertThat(entries()).isEmpty();
    }

    @Test
    void a_change_of_the_retention_leaves_the_declared_period_of_the_audit_unless_it_names_one() {
        Duration day = Duration.ofDays(1);
        store().removals().declare(Retention.of(day).keepAudit(Retention.FOREVER));
        command(startOwned(join(), "a"), CommandKind.CANCEL);
        store().removals().change(Retention.of(day));
        advance(day.multipliedBy(1_000));
        removeAll();
        assertThat(entries()).hasSize(1);
        assertThat(store().removals().info().effective().audit()).isEqualTo(Retention.FOREVER);
        store().removals().change(Retention.of(day).keepAudit(day));
        removeAll();
        assertThat(entries()).isEmpty();
    }

    private void removeAll() {
        Duration again;
        do {
            again = store().removals().remove(100).again();
        } while (again.isZero());
    }
}
