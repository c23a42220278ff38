package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.error.StoreException;
import dev.perdure.postgres.write.OldCycles;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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
    void a_search_is_made_again_when_it_has_rested_ten_times_as_long_as_it_took() throws InterruptedException {
        long began = System.nanoTime();
        OldCycles cycles = new OldCycles(() -> {
            searches.incrementAndGet();
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(20);
            while (System.nanoTime() < end) {
                Thread.onSpinWait();
            }
        });
        while (searches.get() < 2) {
            cycles.look();
            Thread.onSpinWait();
        }
        assertThat(System.nanoTime() - began).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(220));
    }

    @Test
    void a_database_that_does_not_answer_is_not_asked_again_at_once() throws InterruptedException {
        OldCycles cycles = new OldCycles(() -> {
            searches.incrementAndGet();
            ended.release();
            throw new StoreException(StoreException.Kind.UNAVAILABLE, "It is away.", null);
        });
        cycles.look();
        ended.acquire();
        for (int i = 0; i < 1_000; i++) {
            cycles.look();
        }
        assertThat(searches).hasValue(1);
    }

    private static void awaited(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException unexpected) {
            Thread.currentThread().interrupt();
        }
    }
}
