package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Run;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.RunFailedException;
import dev.perdure.testing.PerdureExtension;
import dev.perdure.testing.PerdureTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What the guide on starts shows. */
@ExtendWith(PerdureExtension.class)
class StartsTest {
    private static final List<String> BUILT = new ArrayList<>();

    /** Builds reports. */
    public static final class Reports {
        @Workflow("report")
        public String build(WorkflowContext ctx, String customer) {
            return ctx.step("build", () -> {
                BUILT.add(customer);
                return "report of " + customer;
            });
        }
    }

    @Test
    void a_report_that_is_not_built_in_time_is_cancelled(PerdureTest perdure) {
        perdure.register(new Reports());
        // region within
        Run<String> run = perdure.start(
                Reports::build, "Ada", id("report-ada").queue("nightly").startWithin(Duration.ofHours(2)));
        // endregion
        assertThatThrownBy(run::result)
                .isInstanceOf(RunFailedException.class)
                .hasMessageContaining("did not begin within PT2H in the queue 'nightly'");
    }
}
