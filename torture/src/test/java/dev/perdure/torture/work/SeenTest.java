package dev.perdure.torture.work;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.torture.setup.Absence;
import dev.perdure.torture.setup.OutsideLedger.Line;
import dev.perdure.torture.setup.Phase;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the checker forgives a process that was stopped, and for how long. */
class SeenTest {
    private static final Instant STOPPED = Instant.parse("2026-01-01T00:00:00Z");
    private static final List<Absence> ABSENCES = List.of(new Absence(7, new Phase(STOPPED, STOPPED.plusSeconds(16))));

    private static Line line(long pid, int second) {
        return new Line("steps-0", "step-0", "", pid, STOPPED.plusSeconds(second));
    }

    @Test
    void a_body_may_be_late_while_its_process_was_stopped_and_at_no_other_time() {
        assertThat(Seen.mayBeLate(ABSENCES, line(7, 6))).isTrue();
        assertThat(Seen.mayBeLate(ABSENCES, line(7, 16))).isFalse();
        assertThat(Seen.mayBeLate(ABSENCES, line(7, -1))).isFalse();
        assertThat(Seen.mayBeLate(ABSENCES, line(8, 6))).isFalse();
    }
}
