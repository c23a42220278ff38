package dev.perdure.compatibility;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Run;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.spring.SpringTransactions;
import dev.perdure.spring.boot.test.AutoConfigurePerdureTest;
import dev.perdure.testing.PerdureTest;
import java.time.Duration;
import org.junit.jupiter.api.RepeatedTest;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;

/** A test of an application of this Spring Boot in virtual time. */
@SpringBootTest(webEnvironment = WebEnvironment.NONE)
@AutoConfigurePerdureTest
class SpringTestTest {
    @Autowired
    private PerdureTest perdure;

    static class Answers {
        private final JdbcTemplate jdbc;
        private final SpringTransactions transactions;

        Answers(JdbcTemplate jdbc, SpringTransactions transactions) {
            this.jdbc = jdbc;
            this.transactions = transactions;
        }

        @Workflow("answer")
        public int answer(WorkflowContext ctx, int question) {
            ctx.sleep(Duration.ofDays(365));
            return ctx.transaction(
                    "answer",
                    transactions,
                    status -> jdbc.queryForObject("SELECT 2 * " + question, Integer.class));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Answers.class)
    static class Application {}

    @RepeatedTest(2)
    void a_year_passes_in_no_time() {
        Run<Integer> run = perdure.start(Answers::answer, 21, id("answer"));
        perdure.settle();
        perdure.crash();
        assertThat(run.result()).isEqualTo(42);
    }
}
