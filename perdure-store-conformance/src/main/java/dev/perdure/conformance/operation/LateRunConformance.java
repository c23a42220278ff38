package dev.perdure.conformance.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.conformance.StoreConformance;
import dev.perdure.reaction.Occasion;
import dev.perdure.reaction.ReactionInfo;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.ReactionRules.Order;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Runs that reactions start when other runs have not ended in time. */
public abstract class LateRunConformance extends StoreConformance {
    private static final String ALERT = "send-alert";
    private static final Duration LATE = Duration.ofMinutes(10);

    /** For subclasses. */
    protected LateRunConformance() {}

    private void declare(Duration late, String... definitions) {
        store().reactions()
                .declare(List.of(new ReactionInfo(
                        "slow",
                        Set.of(Occasion.LATE),
                        Optional.of(late),
                        Set.of(definitions),
                        ALERT,
                        QUEUE,
                        Optional.empty())));
    }

    private List<Claimed> alerts() {
        WorkerId worker = join(Set.of(ALERT), null);
        Poll look = new Poll(worker, Set.of(ALERT), Set.of(QUEUE), null, 0, false);
        store().dispatch().poll(look);
        store().dispatch().poll(look);
        return store().dispatch().poll(look.forAtMost(5_000, true)).claimed();
    }

    /** Their ids, without the keys of the other runs. */
    private List<String> alertIds() {
        return alerts().stream()
                .map(claimed -> claimed.run().id().value().replaceFirst("#\\d+\\.", "#"))
                .sorted()
                .toList();
    }

    @Test
    void a_run_that_has_not_ended_in_time_starts_one_once() {
        declare(LATE);
        RunRef run = startReady("a");
        advance(LATE.minusMillis(1));
        assertThat(alerts()).isEmpty();
        advance(Duration.ofMillis(1));
        assertThat(alerts()).singleElement().satisfies(alert -> {
            assertThat(alert.run().id().value()).isEqualTo("reaction:slow:a#%s.late".formatted(run.key()));
            assertThat(alert.definition()).isEqualTo(ALERT);
            assertThat(new String(alert.input().bytes(), StandardCharsets.UTF_8).replaceAll("\\s*([:,{}])\\s*", "$1"))
                    .startsWith("{\"reaction\":\"slow\",\"runId\":{\"value\":\"a\"},\"definition\":\"order\","
                            + "\"occasion\":\"LATE\",\"at\":\"2026-01-01T00:10:00")
                    .contains("\"startedAt\":\"2026-01-01T00:00:00")
                    .endsWith("\"reason\":\"The run is READY.\"}");
        });
        advance(LATE);
        assertThat(alerts()).isEmpty();
        advance(LATE);
        assertThat(alerts()).isEmpty();
    }

    @Test
    void a_run_with_the_id_of_one_that_was_removed_is_late_too() {
        declare(LATE);
        startReady("a");
        advance(LATE);
        assertThat(alertIds()).containsExactly("reaction:slow:a#late");
        free("a");
        startReady("a");
        advance(LATE);
        assertThat(alertIds()).containsExactly("reaction:slow:a#late");
    }

    @Test
    void a_reaction_that_was_not_for_late_runs_in_between_does_not_look_back() {
        declare(LATE);
        startReady("old");
        store().reactions()
                .declare(List.of(new ReactionInfo(
                        "slow", Set.of(Occasion.FAILED), Optional.empty(), Set.of(), ALERT, QUEUE, Optional.empty())));
        advance(Duration.ofMinutes(1));
        startReady("young");
        advance(LATE.minusSeconds(30));
        declare(LATE);
        assertThat(alerts()).isEmpty();
        advance(Duration.ofSeconds(30));
        assertThat(alertIds()).containsExactly("reaction:slow:young#late");
    }

    @Test
    void a_run_in_any_state_but_an_end_is_late() {
        declare(LATE);
        WorkerId worker = join();
        startOwned(worker, "running");
        apply(worker, advance(startOwned(worker, "asleep"), 1, sleep(Duration.ofHours(1))));
        command(startReady("paused"), CommandKind.PAUSE, "wait");
        apply(worker, advance(startOwned(worker, "done"), 1, complete("1")));
        command(startReady("killed"), CommandKind.KILL, "gone");
        advance(LATE);
        assertThat(alertIds())
                .containsExactly(
                        "reaction:slow:asleep#late", "reaction:slow:paused#late", "reaction:slow:running#late");
    }

    @Test
    void only_the_named_definitions_count_and_no_reactions() {
        declare(LATE, "invoice");
        startReady("a");
        startReady(withDefinition(newRun("b"), "invoice"));
        startReady(withDefinition(newRun("reaction:slow:c#late"), "invoice"));
        advance(LATE);
        assertThat(alertIds()).containsExactly("reaction:slow:b#late");
    }

    @Test
    void the_next_due_time_is_when_a_run_is_late() {
        WorkerId worker = join();
        declare(LATE);
        assertThat(polled(worker, 0).nextDue()).isNull();
        RunRef first = startOwned(worker, "a");
        advance(Duration.ofMinutes(1));
        startReady("b");
        assertThat(polled(worker, 0).nextDue()).isEqualTo(BEGINNING.plus(LATE));
        apply(worker, advance(first, 1, complete("1")));
        assertThat(polled(worker, 0).nextDue()).isEqualTo(now().plus(LATE));
        advance(LATE);
        polled(worker, 0);
        assertThat(polled(worker, 0).nextDue()).isNull();
    }

    @Test
    void a_run_that_was_started_before_the_declaration_counts_if_it_is_not_late_yet() {
        startReady("old");
        advance(Duration.ofMinutes(1));
        startReady("young");
        advance(LATE.minusSeconds(30));
        declare(LATE);
        assertThat(alerts()).isEmpty();
        advance(Duration.ofSeconds(30));
        assertThat(alertIds()).containsExactly("reaction:slow:young#late");
    }

    @Test
    void a_shorter_time_counts_for_runs_that_were_started_before() {
        declare(LATE.multipliedBy(2));
        startReady("a");
        advance(LATE.plusMinutes(1));
        assertThat(alerts()).isEmpty();
        declare(LATE);
        assertThat(alertIds()).containsExactly("reaction:slow:a#late");
    }

    @Test
    void a_paused_reaction_finds_after_the_pause_what_is_late_then() {
        declare(LATE);
        WorkerId worker = join();
        RunRef done = startOwned(worker, "done");
        startReady("open");
        store().reactions().apply(new Order.Pause("slow", "maintenance"), null);
        advance(LATE);
        assertThat(alerts()).isEmpty();
        apply(worker, advance(done, 1, complete("1")));
        store().reactions().apply(new Order.Resume("slow"), null);
        assertThat(alertIds()).containsExactly("reaction:slow:open#late");
        store().reactions().apply(new Order.Delete("slow"), null);
        startReady("later");
        advance(LATE);
        assertThat(alerts()).isEmpty();
        assertThat(polled(worker, 0).nextDue()).isNull();
    }

    @Test
    void many_late_runs_start_one_each() {
        declare(LATE);
        int count = 2_500;
        List<Change> starts = new ArrayList<>(IntStream.range(0, count)
                .<Change>mapToObj(i -> new Change.Start(newRun("run-" + i), null))
                .toList());
        store().ledger().apply(Lane.client(0), starts);
        advance(LATE);
        List<String> found = new ArrayList<>();
        for (int i = 0; i < 12 && found.size() < count; i++) {
            found.addAll(alertIds());
        }
        assertThat(found).hasSize(count).doesNotHaveDuplicates();
    }
}
