package dev.perdure.spring.boot.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.testing.PerdureTest;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** A test that takes only a part of an application, as the slices of Spring Boot do: nothing is auto-configured by default. */
@SpringBootTest(classes = SliceIT.Part.class)
@AutoConfigurePerdureTest
class SliceIT {
    static class Reminders {
        @Workflow("reminder")
        public String remind(WorkflowContext ctx, String text) {
            ctx.sleep(Duration.ofDays(1));
            return text;
        }
    }

    /** It has no data source of its own. */
    @Configuration(proxyBeanMethods = false)
    @Import(Reminders.class)
    static class Part {}

    @Test
    void workflows_that_it_imports_run(@Autowired PerdureTest perdure, @Autowired Perdure engine) {
        assertThat(engine.start(Reminders::remind, "tea").resultNow()).isEmpty();
        assertThat(perdure.start(Reminders::remind, "tea").result()).isEqualTo("tea");
    }
}
