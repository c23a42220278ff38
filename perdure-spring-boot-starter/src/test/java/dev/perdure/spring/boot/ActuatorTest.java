package dev.perdure.spring.boot;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RunState;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Store;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** The health indicator and the endpoint, on a store in memory. */
final class ActuatorTest {
    private static final Definition<String, String> ECHO =
            Definition.of("echo", String.class, String.class, (ctx, text) -> text);

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({PerdureAutoConfiguration.class, PerdureActuatorAutoConfiguration.class})
    static class Application {
        @Bean(destroyMethod = "")
        Store store() {
            return new MemoryStore();
        }

        @Bean
        Definition<String, String> echo() {
            return ECHO;
        }
    }

    private static ConfigurableApplicationContext start(String... properties) {
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .properties("spring.main.banner-mode=off")
                .properties(properties)
                .run();
    }

    @Test
    void an_application_with_a_worker_is_healthy_until_it_stops() {
        try (ConfigurableApplicationContext context = start()) {
            HealthIndicator indicator = context.getBean("perdureHealthIndicator", HealthIndicator.class);
            Health health = indicator.health();
            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails()).containsEntry("worker", true).containsEntry("workers", 1);
            context.stop();
            Health stopped = indicator.health();
            assertThat(stopped.getStatus()).isEqualTo(Status.DOWN);
            assertThat(stopped.getDetails().get("error")).asString().startsWith("Perdure is not running");
        }
    }

    @Test
    void health_and_endpoint_tell_what_waits() {
        try (ConfigurableApplicationContext context = start("perdure.worker.enabled=false")) {
            context.getBean(Perdure.class).start(Invocation.of(ECHO, "x"), id("waits"));
            Health health = context.getBean(HealthIndicator.class).health();
            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails())
                    .containsEntry("worker", false)
                    .containsEntry("ready", 1L)
                    .containsKey("oldestReady");
            PerdureEndpoint.Report report =
                    context.getBean(PerdureEndpoint.class).report();
            assertThat(report.worker()).isFalse();
            assertThat(report.workers()).isZero();
            assertThat(report.runs()).singleElement().satisfies(runs -> {
                assertThat(runs.state()).isEqualTo(RunState.READY);
                assertThat(runs.oldest()).isEqualTo("waits");
            });
        }
    }

    @Test
    void the_health_indicator_can_be_left_out() {
        try (ConfigurableApplicationContext context = start("management.health.perdure.enabled=false")) {
            assertThat(context.getBeanNamesForType(HealthIndicator.class)).isEmpty();
        }
        try (ConfigurableApplicationContext context = start("management.health.defaults.enabled=false")) {
            assertThat(context.getBeanNamesForType(HealthIndicator.class)).isEmpty();
        }
        try (ConfigurableApplicationContext context =
                start("management.health.defaults.enabled=false", "management.health.perdure.enabled=true")) {
            assertThat(context.getBeanNamesForType(HealthIndicator.class)).hasSize(1);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Application.class)
    static class OwnIndicator {
        @Bean
        HealthIndicator perdureHealthIndicator() {
            return () -> Health.unknown().build();
        }
    }

    @Test
    void an_indicator_of_the_application_with_this_name_takes_its_place() {
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(OwnIndicator.class)
                .web(WebApplicationType.NONE)
                .properties("spring.main.banner-mode=off")
                .run()) {
            assertThat(context.getBean(HealthIndicator.class).health().getStatus())
                    .isEqualTo(Status.UNKNOWN);
        }
    }
}
