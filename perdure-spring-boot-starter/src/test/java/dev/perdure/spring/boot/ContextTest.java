package dev.perdure.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.perdure.Perdure;
import dev.perdure.RetryPolicy;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.DefinitionException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Store;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.io.support.SpringFactoriesLoader;

/** The engine in contexts of several kinds: lazy, with a parent, with a start that fails. */
final class ContextTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** As a class with {@code @SpringBootApplication}, of which Spring makes a subclass. */
    @Configuration
    @ImportAutoConfiguration(PerdureAutoConfiguration.class)
    static class Application {
        @Bean(destroyMethod = "")
        Store store() {
            return new MemoryStore();
        }

        @Workflow("greeting")
        public String greet(WorkflowContext ctx, String name) {
            return "Hello, " + name;
        }
    }

    private static SpringApplicationBuilder application(Class<?>... sources) {
        return new SpringApplicationBuilder(sources)
                .web(WebApplicationType.NONE)
                .properties("spring.main.banner-mode=off");
    }

    private static void greet(ConfigurableApplicationContext context) {
        assertThat(context.getBean(Perdure.class)
                        .start(Application::greet, "Ada")
                        .result(PATIENCE))
                .isEqualTo("Hello, Ada");
    }

    @Test
    void the_class_of_the_application_may_have_workflows() {
        try (ConfigurableApplicationContext context =
                application(Application.class).run()) {
            greet(context);
        }
    }

    @Test
    void a_lazy_application_starts_the_engine_and_its_worker() {
        try (ConfigurableApplicationContext context =
                application(Application.class).lazyInitialization(true).run()) {
            assertThat(context.getBeanFactory().containsSingleton("perdure")).isFalse();
            greet(context);
        }
    }

    static class Farewells {
        @Workflow("farewell")
        public String part(WorkflowContext ctx, String name) {
            return "Goodbye, " + name;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Services {
        @Bean
        Farewells farewells() {
            return new Farewells();
        }
    }

    @Test
    void beans_of_a_parent_are_registered_as_well() {
        try (ConfigurableApplicationContext parent = application(Services.class).run();
                ConfigurableApplicationContext child =
                        application(Application.class).parent(parent).run()) {
            assertThat(child.getBean(Perdure.class)
                            .start(Farewells::part, "Ada")
                            .result(PATIENCE))
                    .isEqualTo("Goodbye, Ada");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoPolicies {
        @Bean
        RetryPolicy quick() {
            return RetryPolicy.none();
        }

        @Bean
        RetryPolicy patient() {
            return RetryPolicy.standard();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OneIsPrimary {
        @Bean
        @Primary
        RetryPolicy chosen() {
            return RetryPolicy.none();
        }
    }

    @Test
    void of_several_beans_for_one_setting_none_is_left_out_silently() {
        assertThatThrownBy(
                        () -> application(Application.class, TwoPolicies.class).run())
                .hasRootCauseInstanceOf(org.springframework.beans.factory.NoUniqueBeanDefinitionException.class)
                .cause()
                .isInstanceOf(DefinitionException.class)
                .hasMessage(
                        "The application has several beans of type RetryPolicy, and the engine has one: [quick, patient]. Mark that one with @Primary.");
        try (ConfigurableApplicationContext context = application(
                        Application.class, TwoPolicies.class, OneIsPrimary.class)
                .run()) {
            greet(context);
        }
    }

    @Test
    void what_keeps_the_engine_from_starting_is_told_without_a_stack_trace() {
        Throwable failure = catchThrowable(
                () -> application(Application.class, TwoPolicies.class).run());
        assertThat(SpringFactoriesLoader.forDefaultResourceLocation()
                        .load(FailureAnalyzer.class, (type, name, other) -> {})) // some need a context
                .extracting(analyzer -> analyzer.analyze(failure))
                .filteredOn(Objects::nonNull)
                .singleElement()
                .satisfies(told -> assertThat(told.getDescription())
                        .startsWith("Perdure cannot start. The application has several beans of type RetryPolicy"));
    }

    /** Like a web server whose port is taken: it starts after the engine. */
    @Configuration(proxyBeanMethods = false)
    static class PortTaken {
        static final AtomicReference<Perdure> ENGINE = new AtomicReference<>();

        @Bean
        SmartLifecycle server(Perdure perdure) {
            return new SmartLifecycle() {
                @Override
                public void start() {
                    assertThat(perdure.status().workers()).isZero(); // the engine runs
                    ENGINE.set(perdure);
                    throw new IllegalStateException("The port is taken");
                }

                @Override
                public void stop() {}

                @Override
                public boolean isRunning() {
                    return false;
                }
            };
        }
    }

    @Test
    void a_start_that_fails_stops_the_engine() {
        assertThatThrownBy(() -> application(Application.class, PortTaken.class).run())
                .hasRootCauseMessage("The port is taken");
        assertThatThrownBy(() -> PortTaken.ENGINE.get().status())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("Perdure is not running");
    }
}
