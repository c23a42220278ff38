package dev.perdure.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Attempt;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RetryPolicy;
import dev.perdure.StepOptions;
import dev.perdure.WorkflowBody;
import dev.perdure.memory.MemoryStore;
import dev.perdure.report.LogFilter;
import dev.perdure.report.LogPage;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.report.Reports;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What an attempt reported is recorded with its failure: the next attempt gets it although no report was written. */
@Timeout(20)
@SuppressWarnings("serial") // references to what only this test can reach are never written anywhere
final class ReportedFailureTest {
    private static final StepOptions TWICE =
            StepOptions.retry(RetryPolicy.standard().initialDelay(Duration.ofMillis(1)));

    /** Loses every report. */
    private static final class Lossy implements Reports {
        @Override
        public void write(WorkerId worker, List<Report> reports) {}

        @Override
        public Optional<Reported> find(RunRef run, int position) {
            return Optional.empty();
        }

        @Override
        public List<Reported> open(RunRef run) {
            return List.of();
        }

        @Override
        public void log(WorkerId worker, List<Line> lines) {}

        @Override
        public LogPage log(RunRef run, LogFilter filter) {
            return new LogPage(List.of(), 0);
        }
    }

    private static String attempted(Attempt attempt) {
        if (attempt.number() == 1) {
            attempt.heartbeat("page 7");
            throw new IllegalStateException("down");
        }
        return attempt.lastHeartbeat(String.class).orElse("nothing");
    }

    /** The run leaves memory before its second attempt. */
    private static String result(WorkflowBody<String, String> body) {
        Definition<String, String> flow = Definition.of("import", String.class, String.class, body);
        try (Perdure perdure = Perdure.on(Stores.with(new MemoryStore(), "reports", new Lossy()))
                .register(flow)
                .warmWindow(Duration.ZERO)
                .start()) {
            return perdure.start(Invocation.of(flow, "x")).result();
        }
    }

    @Test
    void a_step_goes_on_from_the_heartbeat_in_the_entry_of_its_failure() {
        assertThat(result((ctx, in) -> ctx.step("import", () -> attempted(ctx.attempt()), TWICE)))
                .isEqualTo("page 7");
    }

    @Test
    void an_asynchronous_step_goes_on_from_the_heartbeat_in_the_entry_of_its_failure() {
        assertThat(result((ctx, in) -> ctx.stepAsync("import", () -> attempted(ctx.attempt()), TWICE)
                        .await()))
                .isEqualTo("page 7");
    }
}
