package dev.perdure.torture.fault;

import static java.util.Collections.nCopies;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BodySharesTest {
    private final List<Long> pids = new ArrayList<>();

    private void bodies(int count, long... ofProcesses) {
        for (int i = 0; i < count; i++) {
            for (long pid : ofProcesses) {
                pids.add(pid);
            }
        }
    }

    @Test
    void processes_that_work_together_share() {
        bodies(1_000, 1, 2, 3);
        assertThat(new BodyShares(pids).areShared(3)).isTrue();
        assertThat(new BodyShares(pids)).hasToString("{1=1000, 2=1000, 3=1000}");
    }

    @Test
    void a_process_that_comes_late_is_judged_from_its_first_body_on() {
        bodies(5_000, 1, 2);
        bodies(400, 1, 2, 3);
        assertThat(new BodyShares(pids).areShared(3)).isTrue();
    }

    @Test
    void a_process_that_comes_at_the_end_finds_little() {
        bodies(2_000, 1, 2);
        pids.add(3L);
        bodies(200, 1, 2);
        assertThat(new BodyShares(pids).areShared(3)).isTrue();
    }

    @Test
    void a_process_that_is_kept_from_work_does_not_share() {
        bodies(50, 1, 2, 3);
        pids.addAll(nCopies(2_000, 1L));
        assertThat(new BodyShares(pids).areShared(3)).isFalse();
    }

    @Test
    void a_process_that_did_nothing_does_not_share() {
        bodies(100, 1, 2);
        assertThat(new BodyShares(pids).areShared(3)).isFalse();
    }
}
