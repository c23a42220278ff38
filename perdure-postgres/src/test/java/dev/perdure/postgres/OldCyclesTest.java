package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.error.StoreException;
import dev.perdure.postgres.write.OldCycles;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When the search for cycles of calls that nobody has looked for is made, and by which thread. */
@Timeout(60)
final class OldCyclesTest {
    private final AtomicInteger searches = new AtomicInteger();
    private final Semaphore ended = new Semaphore(0);

    @Test
    void whoever_asks_for_a_search_does_not_wait_for_it_and_there_is_one_at_a_time() throws InterruptedException {
        CountDownLatch stuck = new CountDownLatch(1);
        OldCycles cycles = new OldCycles(() -> {
            searches.incrementAndGet();
            awaited(stuck);
            ended.release();
        });
        cycles.look(); // returns although the search does not
        cycles.look();
        stuck.countDown();
        ended.acquire();
        assertThat(searches).hasValue(1);
    }

    @Test
    void a_search_is_made_again_when_it_has_rested_ten_times_as_long_as_it_took() {
        AtomicLong now = new AtomicLong(Long.MAX_VALUE - 7);
        OldCycles cycles = new OldCycles(
                () -> {
                    searches.incrementAndGet();
                    now.addAndGet(20);
                },
                Runnable::run,
                now::get);
        cycles.look();
        now.addAndGet(199);
        cycles.look();
        assertThat(searches).hasValue(1);
        now.addAndGet(1);
        cycles.look();
        assertThat(searches).hasValue(2);
    }

    @Test
    void a_database_that_does_not_answer_is_asked_again_after_five_seconds() {
        AtomicLong now = new AtomicLong();
        OldCycles cycles = new OldCycles(
                () -> {
                    searches.incrementAndGet();
                    throw new StoreException(StoreException.Kind.UNAVAILABLE, "It is away.", null);
                },
                Runnable::run,
                now::get);
        cycles.look();
        now.addAndGet(TimeUnit.SECONDS.toNanos(5) - 1);
        cycles.look();
        assertThat(searches).hasValue(1);
        now.incrementAndGet();
        cycles.look();
        assertThat(searches).hasValue(2);
    }

    private static void awaited(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException unexpected) {
            Thread.currentThread().interrupt();
        }
    }
}
