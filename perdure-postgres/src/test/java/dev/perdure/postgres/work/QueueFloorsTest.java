package dev.perdure.postgres.work;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.postgres.work.QueueFloors.Floor;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

final class QueueFloorsTest {
    private static final List<String> VERSIONS = List.of("");
    private static final Poll POLL = poll("order");
    private static final Floor TAKEN = new Floor(0, Instant.parse("2026-01-01T00:00:10Z"), 7);
    private static final Floor FURTHER = new Floor(0, Instant.parse("2026-01-01T00:00:20Z"), 3);
    private static final long QUICK = 1;

    private long now;
    private final QueueFloors floors = new QueueFloors(() -> now);

    private static Poll poll(String definition) {
        return new Poll(new WorkerId(new UUID(0, 1)), Set.of(definition), Set.of("limited"), null, 10, true);
    }

    private void pass(long millis) {
        now += Duration.ofMillis(millis).toNanos();
    }

    private Floor floor() {
        return floors.floor("limited", POLL, VERSIONS);
    }

    private void filled(Floor from, Floor last) {
        floors.filled("limited", POLL, VERSIONS, from, last, QUICK);
    }

    @Test
    void the_first_claim_begins_at_the_beginning() {
        assertThat(floor()).isEqualTo(Floor.BEGINNING);
    }

    @Test
    void the_next_claims_begin_behind_the_last_run_that_was_taken() {
        filled(floor(), TAKEN);

        assertThat(floor()).isEqualTo(TAKEN);
        filled(floor(), FURTHER);
        assertThat(floor()).isEqualTo(FURTHER);
    }

    @Test
    void of_runs_of_the_same_moment_the_key_decides() {
        filled(floor(), TAKEN);
        filled(floor(), new Floor(TAKEN.rank(), TAKEN.since(), 6));
        assertThat(floor()).isEqualTo(TAKEN);

        Floor next = new Floor(TAKEN.rank(), TAKEN.since(), 8);
        filled(floor(), next);
        assertThat(floor()).isEqualTo(next);
    }

    @Test
    void a_claim_of_urgent_runs_does_not_move_the_floor_back() {
        filled(floor(), FURTHER);
        Floor before = floor();
        filled(before, new Floor(-5, TAKEN.since(), 9));

        assertThat(floor()).isEqualTo(before);
    }

    @Test
    void every_quarter_of_a_second_a_claim_begins_at_the_beginning_although_the_others_went_on() {
        filled(floor(), TAKEN);
        pass(249);
        assertThat(floor()).isNotEqualTo(Floor.BEGINNING);
        filled(floor(), FURTHER);
        pass(1);

        assertThat(floor()).isEqualTo(Floor.BEGINNING);
    }

    @Test
    void looks_from_the_beginning_that_take_long_are_rare() {
        floors.filled(
                "limited",
                POLL,
                VERSIONS,
                floor(),
                TAKEN,
                Duration.ofMillis(100).toNanos());
        pass(1_999);
        assertThat(floor()).isNotEqualTo(Floor.BEGINNING);
        pass(1);

        assertThat(floor()).isEqualTo(Floor.BEGINNING);
    }

    @Test
    void after_a_claim_that_left_places_free_the_next_one_begins_at_the_beginning() {
        filled(floor(), TAKEN);
        floors.ranDry("limited", POLL, VERSIONS);

        assertThat(floor()).isEqualTo(Floor.BEGINNING);
    }

    @Test
    void workers_that_take_other_runs_and_other_queues_have_floors_of_their_own() {
        filled(floor(), TAKEN);

        assertThat(floors.floor("limited", poll("invoice"), VERSIONS)).isEqualTo(Floor.BEGINNING);
        assertThat(floors.floor("limited", POLL, List.of("", "v2"))).isEqualTo(Floor.BEGINNING);
        assertThat(floors.floor("another", POLL, VERSIONS)).isEqualTo(Floor.BEGINNING);
    }
}
