package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Starting runs. */
public abstract class StartConformance extends StoreConformance {
    /** For subclasses. */
    protected StartConformance() {}

    @Test
    void start_of_a_client_is_ready() {
        NewRun run = newRun("a");
        Outcome outcome = apply(Lane.client(0), new Change.Start(run, null));

        assertThat(outcome).isEqualTo(new Outcome.Started(found(ref(outcome)).ref(), false, now()));
        assertThat(stateOf(ref(outcome))).isEqualTo(RunState.READY);
        assertThat(changesOf(ref(outcome))).containsExactly("READY");
    }

    @Test
    void start_with_an_owner_is_born_running_under_the_first_epoch() {
        WorkerId worker = join();
        Outcome outcome = apply(worker, new Change.Start(newRun("a"), worker));

        assertThat(((Outcome.Started) outcome).owned()).isTrue();
        assertThat(stateOf(ref(outcome))).isEqualTo(RunState.RUNNING);
        assertThat(store().leases().owned(worker)).singleElement().satisfies(owned -> {
            assertThat(owned.run()).isEqualTo(ref(outcome));
            assertThat(owned.epoch()).isEqualTo(Outcome.Started.FIRST_EPOCH);
        });
        assertThat(polled(worker, 10).claimed()).isEmpty();
    }

    @Test
    void start_sent_twice_knows_itself_by_its_seed() {
        WorkerId worker = join();
        NewRun run = newRun("a");
        Outcome first = apply(worker, new Change.Start(run, worker));
        advance(Duration.ofSeconds(1));

        assertThat(apply(worker, new Change.Start(run, worker))).isEqualTo(first);
    }

    @Test
    void start_sent_again_after_the_run_went_on_is_its_own_but_not_held() {
        WorkerId worker = join();
        NewRun run = newRun("a");
        RunRef ref = startOwned(worker, run);
        apply(worker, advance(ref, 1, complete("1")));

        assertThat(apply(worker, new Change.Start(run, worker))).isEqualTo(new Outcome.Started(ref, false, BEGINNING));
    }

    @Test
    void another_start_under_the_same_id_finds_the_existing_run() {
        RunRef existing = startReady("a");

        assertThat(apply(Lane.client(0), new Change.Start(newRun("a"), null)))
                .isEqualTo(new Outcome.Existing(existing, DEFINITION, true));
        NewRun otherInput = withInput(newRun("a"), payload("\"other\""));
        assertThat(apply(Lane.client(0), new Change.Start(otherInput, null)))
                .isEqualTo(new Outcome.Existing(existing, DEFINITION, false));
        NewRun otherDefinition = withDefinition(newRun("a"), "other");
        assertThat(apply(Lane.client(0), new Change.Start(otherDefinition, null)))
                .isEqualTo(new Outcome.Existing(existing, DEFINITION, true));
    }

    /**
     * Its input is that of the latest round. A caller that starts it again, perhaps because it got no answer, has the
     * first.
     */
    @Test
    void another_start_under_the_id_of_a_restarted_run_finds_it_whatever_the_input() {
        WorkerId worker = join();
        RunRef existing = startOwned(worker, newRun("a"));
        apply(worker, advance(existing, 1, new Move.Restart(payload("\"round 2\""), 7)));

        assertThat(apply(Lane.client(0), new Change.Start(newRun("a"), null)))
                .isEqualTo(new Outcome.Existing(existing, DEFINITION, true));
    }

    @Test
    void a_run_that_begins_anew_under_another_definition_is_for_workers_that_have_that() {
        WorkerId worker = join();
        WorkerId other = join(Set.of("other"), null);
        RunRef run = startOwned(worker, newRun("a"));
        Change.Advance leaving = advance(run, 1, new Move.Restart(payload("2"), 7, false, "other"));

        apply(worker, leaving);
        assertThat(apply(worker, leaving)).isInstanceOf(Outcome.AlreadyThere.class);

        assertThat(found(run).info().definition()).isEqualTo("other");
        assertThat(polled(worker, 1).claimed()).isEmpty();
        Poll others = new Poll(other, Set.of("other"), Set.of(QUEUE), null, 1, false);
        assertThat(claimedIds(others)).containsExactly("a");
    }

    @Test
    void start_on_a_removed_lane_starts_nothing() {
        WorkerId worker = join();
        store().leases().leave(worker);

        assertThat(apply(worker, new Change.Start(newRun("a"), worker))).isEqualTo(new Outcome.Fenced());
        assertThat(store().runs().find(RunId.of("a"))).isEmpty();
    }

    @Test
    void many_starts_and_one_that_exists_in_one_batch() {
        RunRef existing = startReady("run-7");
        List<Change> starts = IntStream.range(0, 50)
                .<Change>mapToObj(i -> new Change.Start(newRun("run-" + i), null))
                .toList();

        List<Outcome> outcomes = store().ledger().apply(Lane.client(0), starts);

        assertThat(outcomes).hasSize(50);
        assertThat(outcomes.get(7)).isEqualTo(new Outcome.Existing(existing, DEFINITION, true));
        assertThat(outcomes.stream().filter(Outcome.Started.class::isInstance)).hasSize(49);
        assertThat(outcomes.get(8))
                .satisfies(outcome -> assertThat(ref(outcome).id()).isEqualTo(RunId.of("run-8")));
        WorkerId worker = join();
        assertThat(claimedIds(poll(worker, 3))).containsExactly("run-7", "run-0", "run-1");
    }

    @Test
    void what_was_started_is_what_is_claimed() {
        WorkerId worker = join();
        NewRun run = withTimeout(newRun("ünïcode-\uD83D\uDE00"), Duration.ofHours(1));
        RunRef ref = startReady(run);

        Claimed claimed = claimOne(worker);

        assertThat(claimed.run()).isEqualTo(ref);
        assertThat(claimed.definition()).isEqualTo(DEFINITION);
        assertThat(claimed.input()).isEqualTo(run.input());
        assertThat(claimed.seed()).isEqualTo(run.seed());
        assertThat(claimed.deadline()).isEqualTo(BEGINNING.plus(Duration.ofHours(1)));
        assertThat(claimed.recoveries()).isZero();
    }

    @Test
    void starting_nothing_is_fine() {
        assertThat(store().ledger().apply(Lane.client(0), List.of())).isEmpty();
    }

    private static RunRef ref(Outcome outcome) {
        return ((Outcome.Started) outcome).run();
    }
}
