package dev.perdure.internal.payload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.internal.time.SystemClockwork;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

final class ReadingGateTest {
    private final ReadingGate gate = new ReadingGate(new SystemClockwork(), 100);
    private final List<Integer> entered = new CopyOnWriteArrayList<>();

    private CountDownLatch enters(int size) throws InterruptedException {
        CountDownLatch in = new CountDownLatch(1);
        Thread thread = Thread.ofVirtual().start(() -> {
            gate.enter(size);
            entered.add(size);
            in.countDown();
        });
        while (in.getCount() > 0 && thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        return in;
    }

    private static void await(CountDownLatch latch) throws InterruptedException {
        assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    @Timeout(60)
    void values_that_fit_together_are_read_together_and_the_next_waits() throws InterruptedException {
        await(enters(60));
        await(enters(40));
        CountDownLatch third = enters(10);
        assertThat(third.getCount()).isOne();
        gate.leave(40);
        await(third);
    }

    @Test
    @Timeout(60)
    void a_value_larger_than_the_room_is_read_alone() throws InterruptedException {
        await(enters(30));
        CountDownLatch huge = enters(1_000);
        CountDownLatch small = enters(1);
        assertThat(huge.getCount()).isOne();
        assertThat(small.getCount()).as("in the order of arrival").isOne();
        gate.leave(30);
        await(huge);
        assertThat(small.getCount()).isOne();
        gate.leave(1_000);
        await(small);
        assertThat(entered).containsExactly(30, 1_000, 1);
    }
}
