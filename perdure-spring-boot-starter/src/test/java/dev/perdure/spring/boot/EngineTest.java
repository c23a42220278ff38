package dev.perdure.spring.boot;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.HistoryEvent;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RunId;
import dev.perdure.RunListener;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.DefinitionException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.interceptor.Interceptor;
import dev.perdure.interceptor.StartCall;
import dev.perdure.interceptor.StepCall;
import dev.perdure.memory.MemoryStore;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.VirtualObject;
import dev.perdure.payload.Encryption;
import dev.perdure.payload.EncryptionKeys;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.Queue;
import dev.perdure.spi.Store;
import dev.perdure.spi.payload.PayloadTransform;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.annotation.Order;
import org.springframework.transaction.annotation.Transactional;

/** The engine in applications with a store in memory. */
final class EngineTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(PerdureAutoConfiguration.class)
    static class InMemory {
        @Bean(destroyMethod = "")
        Store store() {
            return new MemoryStore();
        }
    }

    private static ConfigurableApplicationContext start(Class<?> application, String... properties) {
        return new SpringApplicationBuilder(InMemory.class, application)
                .web(WebApplicationType.NONE)
                .properties("spring.main.banner-mode=off")
                .properties(properties)
                .run();
    }

    /** A workflow. */
    static class Greetings {
        @Workflow("greeting")
        public String greet(WorkflowContext ctx, String name) {
            return ctx.step("greet", () -> "Hello, " + name);
        }
    }

    /** What an interface proxy shows of a workflow: nothing. */
    interface Polite {}

    static class Farewells implements Polite {
        private final String word;

        Farewells(String word) {
            this.word = word;
        }

        @Workflow("farewell")
        final String part(WorkflowContext ctx, String name) {
            return word + ", " + name;
        }
    }

    @VirtualObject("counter")
    static class Counter {
        @Handler
        public int add(ObjectContext ctx, int count) {
            return count;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Beans {
        final List<Integer> workersInRunner = new ArrayList<>();
        final LinkedBlockingQueue<RunState> heard = new LinkedBlockingQueue<>();
        final LinkedBlockingQueue<String> intercepted = new LinkedBlockingQueue<>();

        @Bean
        Greetings greetings(Perdure perdure) { // may be injected before the engine runs
            return new Greetings();
        }

        @Bean
        Polite farewells() {
            ProxyFactory factory = new ProxyFactory(new Farewells("Goodbye"));
            factory.setInterfaces(Polite.class);
            return (Polite) factory.getProxy();
        }

        @Bean
        Greetings subclassed() {
            ProxyFactory factory = new ProxyFactory(new Greetings() {
                @Override
                @Workflow("greeting-2")
                public String greet(WorkflowContext ctx, String name) {
                    return "Hi, " + name;
                }
            });
            factory.setProxyTargetClass(true);
            return (Greetings) factory.getProxy();
        }

        @Bean
        Counter counter() {
            return new Counter();
        }

        @Bean
        Definition<String, String> echo() {
            return Definition.of("echo", String.class, String.class, (ctx, text) -> text);
        }

        @Bean
        Queue slow() {
            return Queue.named("slow").concurrency(1);
        }

        @Bean
        Limiter partner() {
            return Limiter.named("partner").concurrency(2);
        }

        @Bean
        RunListener listener() {
            return change -> heard.add(change.state());
        }

        @Bean
        @Order(2)
        Interceptor second() {
            return noting("second");
        }

        @Bean
        @Order(1)
        Interceptor first() {
            return noting("first");
        }

        private Interceptor noting(String name) {
            return new Interceptor() {
                @Override
                public StartCall start(StartCall call) {
                    if (call.definition().equals("farewell")) {
                        intercepted.add(name + " at the start");
                    }
                    return call;
                }

                @Override
                public <T extends @Nullable Object> Callable<T> step(StepCall call, Callable<T> body) {
                    return () -> {
                        intercepted.add(name + " around " + call.step());
                        return body.call();
                    };
                }
            };
        }

        @Bean
        ApplicationRunner runner(Perdure perdure) {
            return arguments -> {
                perdure.start(Greetings::greet, "Ada", id("early"));
                workersInRunner.add(perdure.status().workers());
            };
        }

        @Bean
        ApplicationListener<ApplicationReadyEvent> whenReady(Perdure perdure) {
            return event -> assertThat(perdure.run(RunId.of("early"), TypeRef.of(String.class))
                            .result(PATIENCE))
                    .isEqualTo("Hello, Ada");
        }
    }

    @Test
    void beans_are_registered_and_runs_begin_when_the_application_is_ready() throws Exception {
        try (ConfigurableApplicationContext context = start(Beans.class)) {
            Perdure perdure = context.getBean(Perdure.class);
            Beans beans = context.getBean(Beans.class);
            assertThat(beans.workersInRunner).containsExactly(0);
            assertThat(perdure.status().workers()).isEqualTo(1);
            assertThat(perdure.start(Farewells::part, "Bob").result(PATIENCE)).isEqualTo("Goodbye, Bob");
            assertThat(perdure.object(Counter.class, "a").call(Counter::add, 3)).isEqualTo(3);
            for (String name : List.of("greeting", "greeting-2", "echo")) {
                assertThat(perdure.start(Invocation.of(name, "Eve", TypeRef.of(String.class)))
                                .result(PATIENCE))
                        .endsWith("Eve");
            }
            assertThat(perdure.start(
                                    Greetings::greet,
                                    "Joe",
                                    StartOptions.defaults().queue("slow"))
                            .result(PATIENCE))
                    .isEqualTo("Hello, Joe");
            assertThat(perdure.queues().list())
                    .extracting(queue -> queue.name())
                    .contains("slow");
            assertThat(perdure.limiters().list())
                    .extracting(limiter -> limiter.name())
                    .contains("partner");
            assertThat(beans.heard.poll(30, TimeUnit.SECONDS)).isNotNull();
            assertThat(beans.intercepted)
                    .startsWith("first around greet", "second around greet")
                    .containsSubsequence("first at the start", "second at the start");
        }
    }

    /** A registry as the actuator makes it. */
    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(PerdureMetricsAutoConfiguration.class)
    static class Measured {
        @Bean
        MeterRegistry registry() {
            return new SimpleMeterRegistry();
        }

        @Bean
        Definition<String, String> echo() {
            return Definition.of("echo", String.class, String.class, (ctx, text) -> ctx.step("say", () -> text));
        }
    }

    @Test
    void an_application_with_a_registry_has_the_metrics_of_the_engine() {
        try (ConfigurableApplicationContext context = start(Measured.class)) {
            Perdure perdure = context.getBean(Perdure.class);
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            for (int i = 0; i < 2; i++) {
                assertThat(perdure.start(Invocation.of("echo", "Eve", TypeRef.of(String.class)))
                                .result(PATIENCE))
                        .isEqualTo("Eve");
            }
            assertThat(registry.get("perdure.runs.started").counter().count()).isEqualTo(2);
            assertThat(registry.get("perdure.steps.attempts").timer().count()).isEqualTo(2);
            assertThat(registry.get("perdure.lease.age").gauge().value()).isNotNaN();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Draining {
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch closing = new CountDownLatch(1);

        @Bean
        Definition<String, String> slow() {
            return Definition.of(
                    "slow",
                    String.class,
                    String.class,
                    (ctx, text) -> ctx.step("wait", () -> {
                        begun.countDown();
                        closing.await();
                        return text;
                    }));
        }

        @Bean
        ApplicationListener<ContextClosedEvent> release() {
            return event -> closing.countDown();
        }
    }

    @Test
    void a_stop_waits_for_a_running_step() throws Exception {
        ConfigurableApplicationContext context = start(Draining.class);
        Store store = context.getBean(Store.class);
        Draining application = context.getBean(Draining.class);
        Perdure perdure = context.getBean(Perdure.class);
        perdure.start(Invocation.of("slow", "done", TypeRef.of(String.class)), id("slow"));
        application.begun.await();
        context.close();
        try (Perdure after = Perdure.on(store).client()) {
            List<HistoryEvent> recorded =
                    after.run(RunId.of("slow"), TypeRef.of(String.class)).history();
            assertThat(recorded)
                    .isNotEmpty()
                    .allSatisfy(event -> assertThat(event.reason()).isEmpty());
            assertThat(after.status().workers()).isZero();
        }
        assertThatThrownBy(perdure::status)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("has stopped");
    }

    @Configuration(proxyBeanMethods = false)
    static class Probed {
        final List<Integer> workersWhenReady = new ArrayList<>();

        @Bean
        ApplicationListener<AvailabilityChangeEvent<ReadinessState>> probe(Perdure perdure) {
            return event -> {
                if (event.getState() == ReadinessState.ACCEPTING_TRAFFIC) {
                    workersWhenReady.add(perdure.status().workers());
                }
            };
        }
    }

    @Test
    void the_application_is_ready_for_traffic_when_the_worker_has_begun() {
        try (ConfigurableApplicationContext context = start(Probed.class)) {
            assertThat(context.getBean(Probed.class).workersWhenReady).containsExactly(1);
        }
    }

    @Test
    void a_context_that_starts_again_works_again() {
        try (ConfigurableApplicationContext context = start(Beans.class)) {
            context.stop();
            context.start();
            assertThat(context.getBean(Perdure.class)
                            .start(Greetings::greet, "Ada")
                            .result(PATIENCE))
                    .isEqualTo("Hello, Ada");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class NoWorker {
        @Bean
        Greetings greetings() {
            return new Greetings();
        }
    }

    @Test
    void a_process_without_a_worker_only_starts_runs() {
        try (ConfigurableApplicationContext context = start(NoWorker.class, "perdure.worker.enabled=false")) {
            Perdure perdure = context.getBean(Perdure.class);
            assertThat(perdure.status().workers()).isZero();
            assertThat(perdure.start(Greetings::greet, "Ada").state()).isEqualTo(RunState.READY);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Encrypting {
        @Bean
        Greetings greetings() {
            return new Greetings();
        }

        @Bean
        PayloadTransform encryption() {
            return Encryption.with(EncryptionKeys.of("2025", Map.of("2025", new SecretKeySpec(new byte[16], "AES"))));
        }
    }

    @Test
    void a_bean_that_encrypts_values_is_used() {
        try (ConfigurableApplicationContext context = start(Encrypting.class)) {
            var run = context.getBean(Perdure.class).start(Greetings::greet, "Ada");
            assertThat(run.result(PATIENCE)).isEqualTo("Hello, Ada");
            assertThat(run.export().json()).doesNotContain("Ada");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TooEarly {
        @Bean
        String bean(Perdure perdure) {
            return perdure.status().toString();
        }
    }

    @Test
    void a_use_before_the_engine_runs_is_refused() {
        assertThatThrownBy(() -> start(TooEarly.class))
                .hasRootCauseInstanceOf(InvalidRequestException.class)
                .rootCause()
                .hasMessageContaining("Use it from an ApplicationRunner");
    }

    /** A workflow in a transaction, by its class. */
    @Transactional
    static class Payments {
        @Workflow("payment")
        public void pay(WorkflowContext ctx) {}
    }

    @Configuration(proxyBeanMethods = false)
    static class TransactionalWorkflow {
        @Bean
        Payments payments() {
            return new Payments();
        }
    }

    static class TransactionalHandler {
        @VirtualObject("account")
        static class Account {
            @Handler
            @Transactional
            public void book(ObjectContext ctx) {}
        }

        @Bean
        Account account() {
            return new Account();
        }
    }

    @Test
    void a_workflow_in_a_transaction_is_refused() {
        assertThatThrownBy(() -> start(TransactionalWorkflow.class))
                .rootCause()
                .isInstanceOf(DefinitionException.class)
                .hasMessage(
                        "The method dev.perdure.spring.boot.EngineTest$Payments.pay is @Transactional and a workflow. A run suspends and continues later, maybe in another process, so no transaction can span it: every suspension would roll it back. Remove @Transactional, and write in a transaction step: ctx.transaction(…).");
        assertThatThrownBy(() -> start(TransactionalHandler.class))
                .rootCause()
                .hasMessageContaining("Account.book is @Transactional");
    }

    @Configuration(proxyBeanMethods = false)
    static class ManyGreetings {
        @Bean
        @Scope("prototype")
        Greetings greetings() {
            return new Greetings();
        }
    }

    @Test
    void a_workflow_bean_that_is_no_singleton_is_refused() {
        assertThatThrownBy(() -> start(ManyGreetings.class))
                .rootCause()
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("The bean 'greetings' of dev.perdure.spring.boot.EngineTest$Greetings")
                .hasMessageContaining("Remove its scope");
    }

    @Test
    void a_value_that_is_refused_names_its_property() {
        Map.of(
                        "perdure.worker.lease=1ms", "lease is PT0.001S",
                        "perdure.worker.queues[0]=a\u0000b", "queue",
                        "perdure.worker.labels.gpu=a b", "label",
                        "perdure.max-payload-bytes=0", "maxPayloadBytes is 0",
                        "perdure.max-inline-bytes=99", "maxInlineBytes is 99")
                .forEach((property, reason) -> assertThatThrownBy(() -> start(NoWorker.class, property))
                        .rootCause()
                        .isInstanceOf(InvalidConfigurationPropertyValueException.class)
                        .hasMessageContaining(property.substring(0, property.indexOf('=')))
                        .hasMessageContaining(reason));
    }
}
