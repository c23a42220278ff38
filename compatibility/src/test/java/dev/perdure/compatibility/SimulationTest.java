package dev.perdure.compatibility;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Run;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.testing.Simulate;
import dev.perdure.testing.Simulation;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;

/** Simulated tests with the JUnit of this Spring Boot. */
class SimulationTest {
    private int histories;

    /** A workflow with one step. */
    public static final class Greetings {
        private final List<String> said = new ArrayList<>();

        @Workflow("greet")
        public String greet(WorkflowContext ctx, String name) {
            return ctx.step("say", () -> {
                said.add(name);
                return "Hello " + name;
            });
        }
    }

    /** All seeds have the instance around this class in common. */
    @Nested
    class Simulated {
        @Simulate(seeds = 20)
        void a_history_for_each_seed(Simulation simulation) {
            histories++;
            Greetings greetings = new Greetings();
            simulation.register(greetings);
            Run<String> run = simulation.client().start(Greetings::greet, "world");
            assertThat(run.result()).isEqualTo("Hello world");
            assertThat(greetings.said).contains("world");
        }
    }

    @AfterEach
    void each_seed_had_its_history() {
        assertThat(histories).isEqualTo(20);
    }
}
