package dev.perdure.examples;

import static dev.perdure.StartKey.debounce;
import static dev.perdure.StartKey.deduplicate;
import static dev.perdure.StartKey.idempotencyKey;
import static dev.perdure.StartOptions.id;
import static dev.perdure.StartOptions.under;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.StartKey;
import dev.perdure.TypeRef;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.RunFailedException;
import dev.perdure.testing.PerdureExtension;
import dev.perdure.testing.PerdureTest;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What the guide on starts shows. */
@ExtendWith(PerdureExtension.class)
class StartsTest {
    /** Builds reports. */
    public static final class Reports {
        @Workflow("report")
        public String build(WorkflowContext ctx, String customer) {
            return ctx.step("build", () -> "report of " + customer);
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

    @Test
    void one_report_of_a_customer_at_a_time(PerdureTest perdure) {
        perdure.register(new Reports());
        String customer = "Ada";
        // region once
        Run<String> run = perdure.start(Reports::build, customer, under(deduplicate("report-" + customer)));
        // endregion
        assertThat(run.result()).isEqualTo("report of Ada");
    }

    @Test
    void the_last_report_that_was_asked_for_replaces_the_others(PerdureTest perdure) {
        perdure.register(new Reports());
        String customer = "Ada";
        // region replace
        StartKey latest = deduplicate("report-" + customer).untilBegun().replace();
        Run<String> run = perdure.start(Reports::build, customer, under(latest).queue("nightly"));
        // endregion
        perdure.start(Reports::build, customer, under(latest));
        assertThatThrownBy(run::result)
                .isInstanceOf(RunFailedException.class)
                .hasMessageContaining("which was started under the same key 'report-Ada'");
    }

    @Test
    void a_request_that_comes_again_within_a_day_gets_the_same_run(PerdureTest perdure) {
        perdure.register(new Reports());
        String requestId = "request-7";
        // region idempotent
        Run<String> run = perdure.start(Reports::build, "Ada", under(idempotencyKey(requestId, Duration.ofHours(24))));
        // endregion
        assertThat(run.result()).isEqualTo("report of Ada");
        assertThat(perdure.start(Reports::build, "Ada", under(idempotencyKey(requestId, Duration.ofHours(24))))
                        .id())
                .isEqualTo(run.id());
    }

    @Test
    void only_the_last_click_counts(PerdureTest perdure) {
        perdure.register(new Reports());
        for (String filter : List.of("all", "open", "overdue")) {
            // region debounce
            perdure.start(
                    Reports::build,
                    filter,
                    under(debounce("dashboard-7", Duration.ofSeconds(5), Duration.ofMinutes(1))));
            // endregion
            perdure.advance(Duration.ofSeconds(1));
        }
        perdure.advance(Duration.ofSeconds(5));
        assertThat(perdure.runs(RunFilter.all()).list())
                .singleElement()
                .satisfies(run -> assertThat(
                                perdure.run(run.id(), TypeRef.of(String.class)).result())
                        .isEqualTo("report of overdue"));
    }
}
