package dev.perdure.spring.boot;

import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import java.util.concurrent.ThreadLocalRandom;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;

/** What {@link RollingRestartIT} starts in processes of its own. Each step notes when it begins and when it ends. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(RollingApplication.Jobs.class)
class RollingApplication {
    static final int STEPS = 3;
    private static final int LONGEST_STEP_MILLIS = 400;

    public static void main(String[] arguments) {
        SpringApplication.run(RollingApplication.class, arguments);
    }

    @Bean
    ApplicationListener<ApplicationReadyEvent> sayReady() {
        return event -> System.out.println("ready");
    }

    static class Jobs {
        private final JdbcTemplate jdbc;

        Jobs(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @Workflow("job")
        public int work(WorkflowContext ctx, String name) {
            for (int step = 0; step < STEPS; step++) {
                int number = step;
                ctx.step("step " + step, () -> perform(name, number));
            }
            return STEPS;
        }

        /** Takes as long as a call of another service. */
        private void perform(String job, int step) throws InterruptedException {
            jdbc.update(
                    "INSERT INTO attempt (job, step, process) VALUES (?, ?, ?)",
                    job,
                    step,
                    ProcessHandle.current().pid());
            Thread.sleep(ThreadLocalRandom.current().nextInt(LONGEST_STEP_MILLIS));
            jdbc.update("UPDATE attempt SET ended = true WHERE job = ? AND step = ?", job, step);
        }
    }
}
