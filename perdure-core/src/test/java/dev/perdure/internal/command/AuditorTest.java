package dev.perdure.internal.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.Operator;
import dev.perdure.internal.time.SystemClockwork;
import dev.perdure.spi.Audit;
import org.junit.jupiter.api.Test;

final class AuditorTest {
    @Test
    void the_user_of_the_process_is_looked_up_once() {
        Auditor auditor = new Auditor(null, new SystemClockwork());
        Operator first = auditor.run(Action.CANCEL, "a", "").operator();

        assertThat(first).isEqualTo(Operator.ofProcess());
        assertThat(auditor.run(Action.KILL, "b", "").operator()).isSameAs(first);
    }

    @Test
    void entries_have_ids_of_their_own_and_details_of_a_limited_length() {
        Auditor auditor = new Auditor(Operator.named("anna"), new SystemClockwork());
        Audit first = auditor.run(Action.CANCEL, "a", "x".repeat(2_000));
        Audit second = auditor.run(Action.CANCEL, "a", "x");

        assertThat(first.id()).isNotEqualTo(second.id());
        assertThat(first.detail()).hasSize(1_000);
        assertThat(second.operator()).isEqualTo(Operator.named("anna"));
    }
}
