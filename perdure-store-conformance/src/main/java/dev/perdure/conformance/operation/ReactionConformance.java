package dev.perdure.conformance.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.audit.AuditFilter;
import dev.perdure.audit.Operator;
import dev.perdure.conformance.StoreConformance;
import dev.perdure.reaction.Occasion;
import dev.perdure.reaction.Reaction;
import dev.perdure.reaction.ReactionInfo;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.ReactionRules.Order;
import dev.perdure.spi.ReactionStart;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.change.WorkerId;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Runs that reactions start when other runs fail, are paused or cancelled, in every way in which that happens. */
public abstract class ReactionConformance extends StoreConformance {
    private static final String ALERT = "send-alert";
    private static final Set<Occasion> ALL = Set.of(Occasion.FAILED, Occasion.PAUSED, Occasion.CANCELLED);

    /** For subclasses. */
    protected ReactionConformance() {}

    static ReactionInfo reaction(Set<Occasion> occasions, String... definitions) {
        return new ReactionInfo(
                "alert", occasions, Optional.empty(), Set.of(definitions), ALERT, QUEUE, Optional.empty());
    }

    private void declare(ReactionInfo... reactions) {
        store().reactions().declare(List.of(reactions));
    }

    static Move fail(String reason) {
        return new Move.End(RunState.FAILED, payload("\"no\""), reason);
    }

    /** A worker that takes nothing polls often enough for all that was requested. */
    private List<Claimed> alerts() {
        WorkerId worker = join(Set.of(ALERT), null);
        Poll look = new Poll(worker, Set.of(ALERT), Set.of(QUEUE), null, 0, false);
        store().dispatch().poll(look);
        store().dispatch().poll(look);
        return store().dispatch().poll(look.forAtMost(100, true)).claimed();
    }

    /** Their ids, without the keys of the other runs. */
    private List<String> alertIds() {
        return alerts().stream()
                .map(claimed -> claimed.run().id().value().replaceFirst("#\\d+\\.", "#"))
                .sorted()
                .toList();
    }

    /** The input, written in one of the ways in which the same JSON can be written. */
    private static String json(Claimed claimed) {
        return new String(claimed.input().bytes(), StandardCharsets.UTF_8)
                .replaceAll("\\s*([:,{}])\\s*", "$1")
                .replace("\\u000a", "\\n");
    }

    private static Audit audit(Action action) {
        return new Audit(UUID.randomUUID(), Operator.named("anna"), action, Subject.REACTION, "alert", 0, "why");
    }

    @Test
    void a_run_that_fails_starts_one_with_the_event() {
        declare(reaction(Set.of(Occasion.FAILED), DEFINITION));
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        advance(Duration.ofSeconds(5));
        apply(worker, advance(run, 1, fail("no \"stock\"\nleft")));

        assertThat(alerts()).singleElement().satisfies(alert -> {
            assertThat(alert.run().id()).isEqualTo(RunId.of("reaction:alert:a#%s.1".formatted(run.key())));
            assertThat(alert.definition()).isEqualTo(ALERT);
            assertThat(json(alert))
                    .startsWith("{\"reaction\":\"alert\",\"runId\":{\"value\":\"a\"},\"definition\":\"order\","
                            + "\"occasion\":\"FAILED\",\"at\":\"2026-01-01T00:00:05")
                    .contains("\"startedAt\":\"2026-01-01T00:00:00")
                    .endsWith("\"reason\":\"no \\\"stock\\\"\\nleft\"}");
        });
    }

    @Test
    void a_run_that_completes_starts_none() {
        declare(reaction(ALL));
        WorkerId worker = join();
        apply(worker, advance(startOwned(worker, "a"), 1, complete("1")));
        assertThat(alerts()).isEmpty();
    }

    @Test
    void each_run_of_a_batch_that_fails_starts_one() {
        declare(reaction(Set.of(Occasion.FAILED)));
        WorkerId worker = join();
        List<RunRef> runs =
                Stream.of("a", "b", "c", "d").map(id -> startOwned(worker, id)).toList();
        store().ledger()
                .apply(
                        new Lane(worker, 0),
                        List.of(
                                advance(runs.get(0), 1, fail("0")),
                                advance(runs.get(1), 1, complete("1")),
                                advance(runs.get(2), 1, fail("2")),
                                advance(runs.get(3), 1, sleep(Duration.ofHours(1)))));
        assertThat(alertIds()).containsExactly("reaction:alert:a#1", "reaction:alert:c#1");
    }

    @Test
    void a_change_that_is_sent_again_starts_nothing_again() {
        declare(reaction(ALL));
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Change end = advance(run, 1, fail("no"));
        apply(worker, end);
        assertThat(alerts()).hasSize(1);
        apply(worker, end);
        command(run, CommandKind.KILL, "too late");
        command(run, CommandKind.PAUSE, "too late");
        assertThat(alerts()).isEmpty();
    }

    @Test
    void a_worker_that_lost_its_run_starts_nothing() {
        declare(reaction(ALL));
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        store().leases().leave(worker);
        assertThat(apply(worker, advance(run, 1, fail("no")))).isEqualTo(new Outcome.Fenced());
        assertThat(alerts()).isEmpty();
    }

    @Test
    void a_run_that_is_retried_and_fails_again_starts_another_one() {
        declare(reaction(ALL));
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, fail("no"), step(1, "1")));
        assertThat(alertIds()).containsExactly("reaction:alert:a#1");
        apply(Lane.client(0), new Change.Retry(run.id(), found(run).info().changedAt()));
        apply(worker, advance(run, claimOne(worker).epoch(), fail("no again")));
        assertThat(alertIds()).containsExactly("reaction:alert:a#4");
    }

    @Test
    void a_run_with_the_id_of_one_that_was_removed_starts_another_one() {
        declare(reaction(Set.of(Occasion.FAILED)));
        WorkerId worker = join();
        RunRef first = startOwned(worker, "a");
        apply(worker, advance(first, 1, fail("no")));
        assertThat(alertIds()).containsExactly("reaction:alert:a#1");
        free("a");
        RunRef second = startOwned(worker, "a");
        apply(worker, advance(second, 1, fail("no")));
        assertThat(alerts())
                .singleElement()
                .satisfies(alert -> assertThat(alert.run().id().value())
                        .isEqualTo("reaction:alert:a#%s.1".formatted(second.key())));
    }

    @Test
    void each_pause_starts_one_also_at_the_same_time() {
        declare(reaction(Set.of(Occasion.PAUSED)));
        RunRef run = startReady("a");
        command(run, CommandKind.PAUSE, "one");
        command(run, CommandKind.PAUSE, "one");
        command(run, CommandKind.RESUME, "go on");
        command(run, CommandKind.PAUSE, "two");
        assertThat(alertIds()).containsExactly("reaction:alert:a#1", "reaction:alert:a#3");
    }

    @Test
    void a_run_that_its_worker_pauses_starts_one() {
        declare(reaction(ALL));
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, new Move.Pause("the code does not fit", 0)));
        assertThat(alerts())
                .singleElement()
                .satisfies(alert -> assertThat(json(alert))
                        .contains("\"occasion\":\"PAUSED\"")
                        .contains("\"reason\":\"the code does not fit\""));
    }

    @Test
    void a_run_that_is_recovered_too_often_starts_one() {
        declare(reaction(ALL));
        RunRef run = startReady("a");
        for (int i = 0; i < Claimed.PAUSED_AFTER; i++) {
            assertThat(alerts()).isEmpty();
            WorkerId worker = join();
            assertThat(claimOne(worker).run()).isEqualTo(run);
            store().leases().leave(worker);
            store().leases().sweep(1_000);
        }
        assertThat(stateOf(run)).isEqualTo(RunState.PAUSED);
        assertThat(alertIds()).hasSize(1);
    }

    @Test
    void a_run_that_its_worker_gives_up_too_often_starts_one() {
        declare(reaction(ALL));
        RunRef run = startReady("a");
        WorkerId worker = join();
        for (int i = 0; i < Claimed.PAUSED_AFTER; i++) {
            apply(worker, advance(run, claimOne(worker).epoch(), new Move.Recover("a bug")));
        }
        assertThat(stateOf(run)).isEqualTo(RunState.PAUSED);
        assertThat(alertIds()).hasSize(1);
    }

    @Test
    void a_run_that_is_killed_starts_one_when_it_ends() {
        declare(reaction(ALL));
        WorkerId worker = join();
        RunRef waiting = startReady("waiting");
        RunRef lost = startOwned(worker, "lost");
        command(waiting, CommandKind.KILL, "wrong");
        command(lost, CommandKind.KILL, "wrong");
        assertThat(alertIds()).containsExactly("reaction:alert:waiting#1");
        store().leases().leave(worker);
        store().leases().sweep(1_000);
        assertThat(stateOf(lost)).isEqualTo(RunState.CANCELLED);
        assertThat(alertIds()).containsExactly("reaction:alert:lost#1");
    }

    @Test
    void a_run_that_another_one_cancels_starts_one() {
        declare(reaction(ALL));
        WorkerId worker = join();
        RunRef sender = startOwned(worker, "sender");
        startReady("child");
        Effect cancel = new Effect.Cancel(RunId.of("child"), "not needed");
        apply(worker, advance(sender, 1, STAY, List.of(cancel), step(1, "1")));
        assertThat(alertIds()).containsExactly("reaction:alert:child#1");
    }

    @Test
    void a_run_that_has_not_begun_in_time_starts_one() {
        declare(reaction(Set.of(Occasion.CANCELLED)));
        startReady(newRun("late").withAdmission(new Admission(Duration.ofMinutes(5))));
        advance(Duration.ofMinutes(5));
        polled(join(), 0);
        assertThat(alertIds()).containsExactly("reaction:alert:late#1");
    }

    @Test
    void the_tasks_of_a_dag_that_is_killed_start_one_each() {
        declare(reaction(Set.of(Occasion.CANCELLED)));
        List<Task> tasks = List.of(new Task(newRun("dag/0"), List.of()), new Task(newRun("dag/1"), List.of(0)));
        apply(Lane.client(0), new Change.Start(newRun("dag"), null, List.of(), tasks));
        command(refOf("dag"), CommandKind.KILL, "wrong");
        assertThat(alertIds())
                .containsExactly("reaction:alert:dag#1", "reaction:alert:dag/0#1", "reaction:alert:dag/1#1");
    }

    @Test
    void a_task_that_fails_starts_one() {
        declare(reaction(Set.of(Occasion.FAILED)));
        List<Task> tasks = List.of(new Task(newRun("dag/0"), List.of()), new Task(newRun("dag/1"), List.of(0)));
        WorkerId worker = join();
        apply(worker, new Change.Start(newRun("dag"), worker, List.of(), tasks));
        apply(worker, advance(refOf("dag/0"), 1, fail("no")));
        assertThat(alertIds()).containsExactly("reaction:alert:dag/0#1");
    }

    @Test
    void calls_of_an_object_that_fail_start_one_each() {
        declare(reaction(ALL));
        WorkerId worker = join();
        ObjectCall call = new ObjectCall(new ObjectKey("cart", "k"), ObjectCall.Hold.EXCLUSIVE);
        RunRef holder = startOwned(worker, newRun("holder").on(call));
        Move.End failed = new Move.End(RunState.FAILED, payload("\"no\""), "no");
        Change next =
                new Change.CompletedCall(newRun("next").on(call), List.of(), List.of(), failed, RunId.of("holder"));
        store().ledger().apply(new Lane(worker, 0), List.of(advance(holder, 1, fail("no")), next));
        assertThat(alertIds()).containsExactly("reaction:alert:holder#1", "reaction:alert:next#1");
    }

    @Test
    void a_call_that_closes_a_cycle_starts_one() {
        declare(reaction(ALL));
        WorkerId worker = join();
        ObjectCall call = new ObjectCall(new ObjectKey("cart", "k"), ObjectCall.Hold.EXCLUSIVE);
        RunRef holder = startOwned(worker, newRun("holder").on(call));
        NewRun inner = child("inner", holder, 1, true).on(call);
        apply(worker, advance(holder, 1, STAY, List.of(new Effect.Start(inner)), step(1, "1")));
        assertThat(stateOf(refOf("inner"))).isEqualTo(RunState.FAILED);
        assertThat(alertIds()).containsExactly("reaction:alert:inner#1");
    }

    @Test
    void only_the_named_occasions_and_definitions_count() {
        declare(reaction(Set.of(Occasion.FAILED), "invoice"));
        WorkerId worker = join();
        apply(worker, advance(startOwned(worker, "a"), 1, fail("no")));
        RunRef invoice = startReady(withDefinition(newRun("b"), "invoice"));
        command(invoice, CommandKind.PAUSE, "wait");
        assertThat(alerts()).isEmpty();
        apply(worker, advance(startOwned(worker, withDefinition(newRun("c"), "invoice")), 1, fail("no")));
        assertThat(alertIds()).containsExactly("reaction:alert:c#1");
    }

    @Test
    void all_definitions_are_all_but_those_of_the_engine() {
        declare(reaction(ALL));
        command(startReady(withDefinition(newRun("a"), "perdure.schedule")), CommandKind.KILL, "gone");
        assertThat(alerts()).isEmpty();
        declare(reaction(ALL, "perdure.schedule"));
        command(startReady(withDefinition(newRun("b"), "perdure.schedule")), CommandKind.KILL, "gone");
        assertThat(alertIds()).containsExactly("reaction:alert:b#1");
    }

    @Test
    void a_reaction_that_fails_starts_none_and_neither_do_its_children() {
        declare(reaction(ALL));
        WorkerId worker = join();
        apply(worker, advance(startOwned(worker, "a"), 1, fail("no")));
        WorkerId alerting = join(Set.of(ALERT), null);
        Poll take = new Poll(alerting, Set.of(ALERT), Set.of(QUEUE), null, 0, false);
        store().dispatch().poll(take);
        store().dispatch().poll(take);
        Claimed alert =
                store().dispatch().poll(take.forAtMost(1, true)).claimed().getFirst();
        startReady(alert.run().id().value() + "/1");
        command(refOf(alert.run().id().value() + "/1"), CommandKind.KILL, "gone");
        apply(alerting, advance(alert.run(), alert.epoch(), fail("the pager is broken")));
        assertThat(alerts()).isEmpty();
    }

    @Test
    void several_reactions_start_a_run_each() {
        ReactionInfo other =
                new ReactionInfo("dead-letter", ALL, Optional.empty(), Set.of(), ALERT, "letters", Optional.empty());
        declare(reaction(ALL), other);
        WorkerId worker = join();
        apply(worker, advance(startOwned(worker, "a"), 1, fail("no")));
        assertThat(alertIds()).containsExactly("reaction:alert:a#1");
        assertThat(store().runs().list(RunFilter.all().definition(ALERT).queue("letters")))
                .extracting(info -> info.id().value())
                .singleElement()
                .asString()
                .matches("reaction:dead-letter:a#\\d+\\.1");
    }

    @Test
    void a_long_id_is_replaced_by_its_hash() {
        declare(reaction(ALL));
        String id = "€".repeat(200);
        command(startReady(id), CommandKind.KILL, "gone");
        assertThat(alerts()).singleElement().satisfies(alert -> {
            assertThat(alert.run().id().value()).matches("reaction:alert:[0-9a-f]{32}#\\d+\\.1");
            assertThat(json(alert)).contains("\"value\":\"" + id + "\"");
        });
    }

    @Test
    void the_longest_name_and_the_longest_id_fit_into_one_id() {
        String name = "n".repeat(Reaction.MAX_NAME_LENGTH);
        declare(new ReactionInfo(name, ALL, Optional.empty(), Set.of(), ALERT, QUEUE, Optional.empty()));
        for (int length = 90; length <= 100; length++) {
            command(startReady("i".repeat(length)), CommandKind.KILL, "gone");
        }
        assertThat(alerts()).hasSize(11);
        RunRef largest = new RunRef(RunId.of("i".repeat(ReactionStart.LONGEST_ID)), Long.MAX_VALUE);
        assertThat(ReactionStart.id(name, largest, String.valueOf(Integer.MAX_VALUE))
                        .value()
                        .length())
                .isLessThanOrEqualTo(RunId.MAX_LENGTH);
    }

    @Test
    void what_happened_before_the_declaration_is_no_occasion() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, fail("no")));
        declare(reaction(ALL));
        command(run, CommandKind.KILL, "too late");
        assertThat(alerts()).isEmpty();
    }

    @Test
    void a_paused_or_deleted_reaction_starts_none() {
        declare(reaction(ALL));
        assertThat(store().reactions().apply(new Order.Pause("alert", "maintenance"), audit(Action.PAUSE)))
                .isTrue();
        declare(reaction(ALL));
        command(startReady("a"), CommandKind.KILL, "gone");
        assertThat(store().reactions().list())
                .singleElement()
                .satisfies(info -> assertThat(info.paused()).hasValue("maintenance"));
        store().reactions().apply(new Order.Resume("alert"), audit(Action.RESUME));
        store().reactions().apply(new Order.Resume("alert"), audit(Action.RESUME));
        command(startReady("b"), CommandKind.KILL, "gone");
        assertThat(alertIds()).containsExactly("reaction:alert:b#1");
        assertThat(store().reactions().apply(new Order.Delete("alert"), audit(Action.DELETE)))
                .isTrue();
        command(startReady("c"), CommandKind.KILL, "gone");
        assertThat(alerts()).isEmpty();
        assertThat(store().reactions().list()).isEmpty();
        assertThat(store().reactions().apply(new Order.Delete("alert"), audit(Action.DELETE)))
                .isFalse();
        assertThat(store().reactions().apply(new Order.Pause("alert", "why"), audit(Action.PAUSE)))
                .isFalse();
        assertThat(store().runs().audited(AuditFilter.all().of(Subject.REACTION, "alert")))
                .extracting(entry -> entry.action())
                .containsExactlyInAnyOrder(Action.PAUSE, Action.RESUME, Action.DELETE);
    }

    @Test
    void the_last_declaration_counts() {
        declare(reaction(ALL));
        ReactionInfo changed = new ReactionInfo(
                "alert",
                Set.of(Occasion.PAUSED, Occasion.LATE),
                Optional.of(Duration.ofHours(1)),
                Set.of("invoice", "order"),
                "send-mail",
                "mails",
                Optional.empty());
        declare(changed);
        assertThat(store().reactions().list()).containsExactly(changed);
    }
}
