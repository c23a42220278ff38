package dev.perdure.postgres.work;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.postgres.work.LimitedClaims.Waiting;
import dev.perdure.postgres.work.PollOrder.Beginning;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

final class PollOrderTest {
    private static final int WORKER = 1;
    private static final int ROOM = 100;
    private static final List<Waiting> LIMITED = List.of(new Waiting("limited", false, false));
    private static final Instant DUE = Instant.parse("2026-01-01T00:00:00Z");

    private long now;
    private final PollOrder order = new PollOrder(() -> now);

    private void pass(long millis) {
        now += Duration.ofMillis(millis).toNanos();
    }

    private Beginning begin() {
        return order.begin(WORKER, ROOM);
    }

    /** A poll looks for everything, finds nothing else, and finds runs that wait in the queue with limits. */
    private void foundOnlyLimited() {
        order.foundNothingElse(WORKER, begin(), DUE);
        order.waiting(WORKER, LIMITED);
    }

    @Test
    void the_first_poll_looks_for_everything() {
        assertThat(begin().queues()).isEmpty();
    }

    @Test
    void polls_of_a_quiet_worker_only_claim_with_all_their_room() {
        foundOnlyLimited();
        for (int i = 0; i < 24; i++) {
            pass(1);
            Beginning beginning = begin();
            assertThat(beginning.quiet()).isTrue();
            assertThat(beginning.queues()).isEqualTo(LIMITED);
            assertThat(beginning.room()).isEqualTo(ROOM);
            assertThat(beginning.nextDue()).isEqualTo(DUE);
        }
    }

    @Test
    void a_quiet_worker_looks_for_everything_after_a_while() {
        foundOnlyLimited();
        pass(25);
        assertThat(begin().queues()).isEmpty();
        assertThat(begin().quiet()).isFalse();
        foundOnlyLimited();
        assertThat(begin().quiet()).isTrue();
    }

    @Test
    void after_a_hint_a_poll_also_looks_for_everything() {
        foundOnlyLimited();
        order.hear();
        Beginning beginning = begin();
        assertThat(beginning.queues()).isEqualTo(LIMITED);
        assertThat(beginning.quiet()).isFalse();
    }

    @Test
    void a_hint_that_comes_during_the_look_is_not_lost() {
        Beginning beginning = begin();
        order.hear();
        order.foundNothingElse(WORKER, beginning, DUE);
        order.waiting(WORKER, LIMITED);
        assertThat(begin().quiet()).isFalse();
    }

    @Test
    void a_worker_with_other_runs_leaves_them_half_of_the_room_and_every_fourth_poll() {
        foundOnlyLimited();
        order.mayFindMore(WORKER);
        for (int i = 0; i < 2; i++) {
            assertThat(List.of(begin().room(), begin().room(), begin().room(), begin().room()))
                    .containsExactly(ROOM, ROOM / 2, ROOM, 0);
        }
        assertThat(begin().quiet()).isFalse();
    }

    @Test
    void a_worker_without_room_looks_for_everything_else() {
        foundOnlyLimited();
        assertThat(order.begin(WORKER, 0).queues()).isEmpty();
    }

    @Test
    void a_worker_learns_nothing_from_another() {
        foundOnlyLimited();
        assertThat(order.begin(WORKER + 1, ROOM).queues()).isEmpty();
    }

    @Test
    void nothing_is_known_of_a_dead_worker() {
        foundOnlyLimited();
        order.forget(WORKER);
        assertThat(begin().queues()).isEmpty();
    }
}
