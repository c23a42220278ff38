package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Run;
import dev.perdure.error.AlreadyResolvedException;
import dev.perdure.examples.Approvals.Decision;
import dev.perdure.examples.Approvals.Request;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ApprovalsTest {
    private static final Decision YES = new Decision(true, "Ada", "good for the back");
    private static final Decision NO = new Decision(false, "Bob", "too dear");

    private final List<String> mails = new CopyOnWriteArrayList<>();

    // region test
    @ParameterizedTest
    @EnumSource
    void reminds_every_day_until_a_manager_decides(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Approvals(mails::add));
            Run<Decision> run = perdure.start(Approvals::ask, new Request("a chair", 19_900), id("request-7"));
            perdure.advance(Duration.ofDays(2).plusHours(1));
            assertThat(mails)
                    .containsExactly("Please decide on a chair", "Still waiting: a chair", "Still waiting: a chair");
            assertThat(run.published(Approvals.STATUS)).contains("PENDING");
            Approvals.decide(perdure, "request-7", YES);
            assertThat(run.result()).isEqualTo(YES);
            assertThat(run.published(Approvals.STATUS)).contains("APPROVED");
        }
    }
    // endregion

    @ParameterizedTest
    @EnumSource
    void the_first_decision_counts(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Approvals(mails::add));
            Run<Decision> run = perdure.start(
                    Approvals::ask,
                    new Request("a chair", 19_900),
                    id("request-7").delay(Duration.ofHours(1)));
            Approvals.decide(perdure, "request-7", NO);
            assertThatThrownBy(() -> Approvals.decide(perdure, "request-7", YES))
                    .isInstanceOf(AlreadyResolvedException.class);
            assertThat(run.result()).isEqualTo(NO);
            assertThat(run.published(Approvals.STATUS)).contains("REJECTED");
        }
    }
}
