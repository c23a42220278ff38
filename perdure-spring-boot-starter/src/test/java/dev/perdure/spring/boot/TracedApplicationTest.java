package dev.perdure.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.memory.MemoryStore;
import dev.perdure.opentelemetry.Tracing;
import dev.perdure.spi.Store;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Traces in applications with a store in memory. */
final class TracedApplicationTest {
    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({PerdureAutoConfiguration.class, PerdureTracingAutoConfiguration.class})
    static class Application {
        static final Definition<String, String> ORDER =
                Definition.of("order", String.class, String.class, (ctx, in) -> ctx.step("charge", () -> in));

        @Bean(destroyMethod = "")
        Store store() {
            return new MemoryStore();
        }

        @Bean
        Definition<String, String> order() {
            return ORDER;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class WithTelemetry {
        @Bean(destroyMethod = "")
        InMemorySpanExporter exporter() {
            return InMemorySpanExporter.create();
        }

        @Bean(destroyMethod = "") // it would empty the exporter
        OpenTelemetry openTelemetry(InMemorySpanExporter exporter) {
            return OpenTelemetrySdk.builder()
                    .setTracerProvider(SdkTracerProvider.builder()
                            .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                            .build())
                    .build();
        }
    }

    private static ConfigurableApplicationContext start(String enabled, Class<?>... classes) {
        return new SpringApplicationBuilder(classes)
                .web(WebApplicationType.NONE)
                .properties("spring.main.banner-mode=off", "perdure.tracing.enabled=" + enabled)
                .run();
    }

    @Test
    void runs_are_traced_with_the_bean_of_the_application() {
        try (ConfigurableApplicationContext application = start("true", WithTelemetry.class, Application.class)) {
            Perdure perdure = application.getBean(Perdure.class);
            perdure.start(Invocation.of(Application.ORDER, "pen")).result();
            InMemorySpanExporter exporter = application.getBean(InMemorySpanExporter.class);
            await().atMost(Duration.ofSeconds(10))
                    .untilAsserted(() -> assertThat(exporter.getFinishedSpanItems())
                            .extracting(SpanData::getName)
                            .containsExactlyInAnyOrder("start order", "step charge", "run order"));
        }
    }

    @Test
    void runs_that_end_right_before_the_application_closes_have_their_last_spans() {
        InMemorySpanExporter exporter;
        try (ConfigurableApplicationContext application = start("true", WithTelemetry.class, Application.class)) {
            exporter = application.getBean(InMemorySpanExporter.class);
            Perdure perdure = application.getBean(Perdure.class);
            for (int i = 0; i < 50; i++) {
                perdure.start(Invocation.of(Application.ORDER, "pen")).result();
            }
        }
        assertThat(exporter.getFinishedSpanItems().stream()
                        .filter(span -> span.getName().equals("run order")))
                .hasSize(50);
    }

    @Test
    void nothing_is_traced_without_such_a_bean_or_if_it_is_turned_off() {
        try (ConfigurableApplicationContext application = start("true", Application.class)) {
            assertThat(application.getBeansOfType(Tracing.class)).isEmpty();
        }
        try (ConfigurableApplicationContext application = start("false", WithTelemetry.class, Application.class)) {
            assertThat(application.getBeansOfType(Tracing.class)).isEmpty();
        }
    }
}
