package dev.perdure.spring.boot.test;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.spring.boot.test.ShopConfiguration.Orders;
import dev.perdure.testing.PerdureTest;
import java.time.Duration;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.SpringBootTest;

/** The workflows of an application in virtual time. */
@SpringBootTest
@AutoConfigurePerdureTest
class SpringTestIT {
    @Autowired
    private PerdureTest perdure;

    @Autowired
    private Perdure engine;

    @Autowired
    private Orders orders;

    @Autowired
    private ShopConfiguration application;

    @RepeatedTest(2) // the same id twice, because each test has its own schema
    void thirty_days_pass_in_no_time() {
        Run<Integer> run = perdure.start(Orders::process, "book", id("order"));
        perdure.advance(ShopConfiguration.PATIENCE.minusDays(1));
        assertThat(run.resultNow()).isEmpty();
        int before = orders.sales("book");
        perdure.crash();
        perdure.advance(Duration.ofDays(1));
        assertThat(run.result()).isEqualTo(1);
        assertThat(orders.sales("book")).isEqualTo(before + 1);
        assertThat(application.ended).contains(run.id());
    }

    @Test
    void a_bean_starts_runs_in_its_transaction() {
        RunId placed = orders.place("pen");
        perdure.settle();
        assertThat(engine.run(placed, TypeRef.of(Integer.class)).state()).isEqualTo(RunState.SUSPENDED);
        assertThat(perdure.run(placed, TypeRef.of(Integer.class)).result()).isEqualTo(1);
        assertThat(orders.sales("pen")).isEqualTo(1);
    }

    @Test
    void queues_and_schedules_are_those_of_the_application() {
        assertThat(perdure.queues().list()).extracting(queue -> queue.name()).contains("slow");
        assertThat(perdure.start(Orders::process, "cup", StartOptions.defaults().queue("slow"))
                        .result())
                .isEqualTo(1);
        assertThat(perdure.runs(RunFilter.all().definition("count")).list()).hasSize(30);
    }

    @Test
    void what_the_application_starts_belongs_to_no_test() {
        assertThat(perdure.runs(RunFilter.all().definition("order")).list()).isEmpty();
    }

    @Test
    void the_actuator_sees_the_engine_of_the_test(
            @Autowired @Qualifier("perdureHealthIndicator") HealthIndicator health) {
        assertThat(health.health().getStatus()).isEqualTo(Status.UP);
        assertThat(health.health().getDetails()).containsEntry("workers", 1);
    }

    @Nested
    class Inside {
        @Test
        void a_nested_test_has_the_engine_of_the_test_around_it() {
            Run<Integer> run = perdure.start(Orders::process, "ink", id("order"));
            assertThat(run.result()).isEqualTo(1);
        }
    }

    @Nested
    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    class OneObjectForAllTests {
        @Autowired
        private PerdureTest own;

        @RepeatedTest(2)
        void each_test_has_its_own_engine() {
            assertThat(own.start(Orders::process, "jar", id("order")).result()).isEqualTo(1);
        }
    }
}
