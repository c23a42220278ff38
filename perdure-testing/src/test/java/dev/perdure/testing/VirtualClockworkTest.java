package dev.perdure.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.spi.Clockwork;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class VirtualClockworkTest {
    private final VirtualClockwork clockwork = new VirtualClockwork(1);

    @Test
    void a_test_that_waits_before_it_sends_a_commit_again_goes_on() throws InterruptedException {
        boolean raised = clockwork.signal().await(Clockwork.NEVER, TimeUnit.MILLISECONDS.toNanos(10));
        assertThat(raised).isFalse();
    }

    @Test
    void a_wait_that_would_never_end_is_refused() {
        assertThatThrownBy(() -> clockwork.signal().await(Clockwork.NEVER, Clockwork.NEVER))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("Nothing can run and no timer is set, so this wait would never end.");
    }
}
