package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.audit.AuditFilter;
import dev.perdure.error.DefinitionException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.TerminalException;
import dev.perdure.error.UnknownReactionException;
import dev.perdure.internal.json.JsonCodec;
import dev.perdure.reaction.Occasion;
import dev.perdure.reaction.Reaction;
import dev.perdure.reaction.RunEvent;
import dev.perdure.spi.Codec;
import dev.perdure.spi.change.Payload;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Workflows that start when something happens to a run. */
abstract class ReactionScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Reaction ALERT = Reaction.named("alert").of("order");

    private final List<RunEvent> alerts = new CopyOnWriteArrayList<>();
    private final Definition<RunEvent, Void> raise = Definition.of("raise", RunEvent.class, (ctx, event) -> {
        ctx.step("page", () -> {
            alerts.add(event);
        });
    });

    private static Definition<String, String> failing(AtomicBoolean broken) {
        return workflow(
                "order",
                (ctx, in) -> ctx.step("ship", () -> {
                    if (broken.get()) {
                        throw new TerminalException("The carrier is closed");
                    }
                    return "shipped " + in;
                }));
    }

    private static Definition<String, String> sleepy() {
        return workflow("order", (ctx, in) -> {
            ctx.sleep(HOUR.multipliedBy(24));
            return in;
        });
    }

    private List<Occasion> occasions() {
        return alerts.stream().map(RunEvent::occasion).toList();
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_fails_and_is_retried_and_fails_again_raises_two_alerts(TestMode mode) {
        AtomicBoolean broken = new AtomicBoolean(true);
        Definition<String, String> order = failing(broken);
        try (PerdureTest perdure = create(mode)) {
            perdure.register(order, raise).reactions(ALERT.when(Occasion.FAILED).start(raise));
            Instant began = perdure.now();
            Run<String> run = perdure.start(Invocation.of(order, "lamp"), id("order-42"));
            perdure.settle();
            assertThat(alerts).singleElement().satisfies(event -> {
                assertThat(event.reaction()).isEqualTo("alert");
                assertThat(event.runId()).isEqualTo(RunId.of("order-42"));
                assertThat(event.definition()).isEqualTo("order");
                assertThat(event.occasion()).isEqualTo(Occasion.FAILED);
                assertThat(event.startedAt()).isEqualTo(began);
                assertThat(event.at()).isEqualTo(run.info().changedAt());
                assertThat(event.reason()).contains("The carrier is closed");
            });
            run.retry();
            perdure.settle();
            assertThat(alerts).hasSize(2);
            broken.set(false);
            run.retry();
            assertThat(run.result()).isEqualTo("shipped lamp");
            perdure.settle();
            assertThat(alerts).hasSize(2);
            assertThat(perdure.runs(RunFilter.all().definition("raise")).list())
                    .extracting(RunInfo::state)
                    .containsExactly(RunState.COMPLETED, RunState.COMPLETED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void each_pause_and_the_cancel_of_a_run_raise_an_alert(TestMode mode) {
        Definition<String, String> order = sleepy();
        try (PerdureTest perdure = create(mode)) {
            perdure.register(order, raise)
                    .reactions(ALERT.when(Occasion.PAUSED, Occasion.CANCELLED).start(raise));
            Run<String> run = perdure.start(Invocation.of(order, "lamp"), id("order-42"));
            perdure.settle();
            run.pause("first");
            run.resume();
            run.pause("second");
            perdure.settle();
            assertThat(occasions()).containsExactly(Occasion.PAUSED, Occasion.PAUSED);
            assertThat(alerts).extracting(RunEvent::reason).containsExactlyInAnyOrder("first", "second");
            run.kill("not wanted");
            perdure.settle();
            assertThat(occasions()).containsExactly(Occasion.PAUSED, Occasion.PAUSED, Occasion.CANCELLED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_late_run_raises_an_alert_once_at_its_time(TestMode mode) {
        Definition<String, String> order = sleepy();
        List<Instant> raised = new CopyOnWriteArrayList<>();
        try (PerdureTest perdure = create(mode)) {
            Definition<RunEvent, Void> note = Definition.of("note", RunEvent.class, (ctx, event) -> {
                Instant now = ctx.now();
                ctx.step("page", () -> {
                    raised.add(now);
                    alerts.add(event);
                });
            });
            perdure.register(order, note).reactions(ALERT.late(HOUR).start(note));
            Instant began = perdure.now();
            Run<String> run = perdure.start(Invocation.of(order, "lamp"), id("order-42"));
            perdure.advance(HOUR.minusSeconds(1));
            assertThat(alerts).isEmpty();
            assertThat(run.result()).isEqualTo("lamp");
            perdure.settle();
            assertThat(alerts).singleElement().satisfies(event -> {
                assertThat(event.occasion()).isEqualTo(Occasion.LATE);
                assertThat(event.at()).isEqualTo(began.plus(HOUR));
                assertThat(event.reason()).isEqualTo("The run is SUSPENDED.");
            });
            assertThat(raised).containsExactly(began.plus(HOUR));
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_ends_in_time_raises_none(TestMode mode) {
        Definition<String, String> order = sleepy();
        try (PerdureTest perdure = create(mode)) {
            perdure.register(order, raise)
                    .reactions(ALERT.late(HOUR.multipliedBy(25)).start(raise));
            assertThat(perdure.start(Invocation.of(order, "lamp")).result()).isEqualTo("lamp");
            perdure.advance(HOUR.multipliedBy(48));
            assertThat(alerts).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_reaction_that_fails_with_its_child_causes_no_other(TestMode mode) {
        Definition<String, String> order = failing(new AtomicBoolean(true));
        Definition<RunEvent, Void> broken = Definition.of("broken", RunEvent.class, (ctx, event) -> {
            alerts.add(event);
            ctx.call(Invocation.of(order, "again"));
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(order, broken)
                    .reactions(Reaction.named("alert")
                            .when(Occasion.FAILED, Occasion.PAUSED, Occasion.CANCELLED)
                            .late(HOUR)
                            .start(broken));
            perdure.start(Invocation.of(order, "lamp"), id("order-42"));
            perdure.settle();
            perdure.advance(HOUR.multipliedBy(2));
            assertThat(alerts).extracting(RunEvent::runId).containsOnly(RunId.of("order-42"));
            assertThat(perdure.runs(RunFilter.all().definition("broken")).list())
                    .singleElement()
                    .satisfies(info -> assertThat(info.state()).isEqualTo(RunState.FAILED));
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_operator_pauses_and_deletes_a_reaction(TestMode mode) {
        Definition<String, String> order = failing(new AtomicBoolean(true));
        try (PerdureTest perdure = create(mode)) {
            perdure.register(order, raise).reactions(ALERT.when(Occasion.FAILED).start(raise));
            perdure.reactions().pause("alert", "maintenance");
            perdure.start(Invocation.of(order, "lamp"));
            perdure.settle();
            assertThat(alerts).isEmpty();
            assertThat(perdure.reactions().list()).singleElement().satisfies(info -> {
                assertThat(info.paused()).hasValue("maintenance");
                assertThat(info.starts()).isEqualTo("raise");
                assertThat(info.definitions()).containsExactly("order");
            });
            perdure.reactions().resume("alert");
            perdure.start(Invocation.of(order, "lamp"));
            perdure.settle();
            assertThat(alerts).hasSize(1);
            perdure.reactions().delete("alert");
            perdure.start(Invocation.of(order, "lamp"));
            perdure.settle();
            assertThat(alerts).hasSize(1);
            assertThatThrownBy(() -> perdure.reactions().resume("alert"))
                    .isInstanceOf(UnknownReactionException.class)
                    .hasMessage("There is no reaction 'alert'. Check the name, or list the reactions.");
            assertThat(perdure.audit().list(AuditFilter.all().of(Subject.REACTION, "alert")))
                    .extracting(AuditEntry::action)
                    .hasSize(3);
        }
    }

    static Stream<Arguments> everyCommitInEveryMode() {
        return Stream.of(TestMode.values())
                .flatMap(mode -> IntStream.range(0, 8)
                        .boxed()
                        .flatMap(commit -> Stream.of(true, false).map(before -> Arguments.of(mode, commit, before))));
    }

    @ParameterizedTest
    @MethodSource("everyCommitInEveryMode")
    void a_crash_at_any_commit_loses_and_repeats_no_reaction(TestMode mode, int commit, boolean before) {
        Definition<String, String> order = failing(new AtomicBoolean(true));
        try (PerdureTest perdure = create(mode)) {
            perdure.register(order, raise).reactions(ALERT.when(Occasion.FAILED).start(raise));
            if (before) {
                perdure.crashBeforeCommit(commit);
            } else {
                perdure.crashAfterCommit(commit);
            }
            for (int i = 0; i < 3; i++) {
                perdure.start(Invocation.of(order, "lamp"), id("order-" + i));
            }
            perdure.advance(HOUR);
            assertThat(perdure.runs(RunFilter.all().definition("order").state(RunState.FAILED))
                            .list())
                    .hasSize(3);
            assertThat(perdure.runs(RunFilter.all().definition("raise")).list())
                    .hasSize(3)
                    .allMatch(info -> info.state() == RunState.COMPLETED);
        }
    }

    /** Not JSON, and not what the store writes. */
    private static final class Reversed implements Codec {
        private final Codec json = new JsonCodec();

        private static Payload reversed(Payload payload) {
            byte[] bytes = payload.bytes();
            byte[] reversed = new byte[bytes.length];
            for (int i = 0; i < bytes.length; i++) {
                reversed[i] = bytes[bytes.length - 1 - i];
            }
            return new Payload(reversed);
        }

        @Override
        public Payload encode(@Nullable Object value, Type type) {
            return reversed(json.encode(value, type));
        }

        @Override
        public @Nullable Object decode(Payload payload, Type type) {
            return json.decode(reversed(payload), type);
        }

        @Override
        public @Nullable Object verify(@Nullable Object value, Payload payload, Type type) {
            return json.verify(value, reversed(payload), type);
        }

        @Override
        public void check(Type type) {
            json.check(type);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_engine_with_another_codec_reads_the_event(TestMode mode) {
        Definition<String, String> order = failing(new AtomicBoolean(true));
        try (PerdureTest perdure = create(mode)) {
            perdure.codec(new Reversed())
                    .register(order, raise)
                    .reactions(ALERT.when(Occasion.FAILED).start(raise));
            perdure.start(Invocation.of(order, "lamp"), id("order-42"));
            perdure.settle();
            assertThat(alerts)
                    .singleElement()
                    .satisfies(event -> assertThat(event.runId()).isEqualTo(RunId.of("order-42")));
        }
    }

    @Test
    void declarations_that_cannot_be_used_are_refused() {
        Reaction named = Reaction.named("alert");
        assertThatThrownBy(() -> named.when(Occasion.LATE))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "The reaction 'alert' lacks the time after which a run is late. Write late(Duration) instead of when(LATE).");
        assertThatThrownBy(() -> named.late(Duration.ofMillis(999)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("The reaction 'alert' calls runs late after PT0.999S. Give it a second to ten years.");
        refused(
                named.start(raise),
                "The reaction 'alert' names no occasion. Say when it starts a run, such as when(Occasion.FAILED).");
        refused(
                named.when(Occasion.FAILED),
                "The reaction 'alert' starts nothing. Name a workflow, such as start(Alerts::raise).");
        try (PerdureTest perdure = create(TestMode.values()[0])) {
            Reaction whole = named.when(Occasion.FAILED).start(raise);
            perdure.register(raise).reactions(whole, whole.late(HOUR));
            assertThatThrownBy(perdure::settle)
                    .isInstanceOf(DefinitionException.class)
                    .hasMessage("The reaction 'alert' is declared twice. Give one of them another name.");
        }
    }

    private void refused(Reaction reaction, String message) {
        try (PerdureTest perdure = create(TestMode.values()[0])) {
            perdure.register(raise).reactions(reaction);
            assertThatThrownBy(perdure::settle)
                    .isInstanceOf(DefinitionException.class)
                    .hasMessage(message);
        }
    }
}
