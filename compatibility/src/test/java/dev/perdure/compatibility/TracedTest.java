package dev.perdure.compatibility;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.memory.MemoryStore;
import dev.perdure.opentelemetry.Tracing;
import dev.perdure.spi.Store;
import dev.perdure.spring.boot.PerdureAutoConfiguration;
import dev.perdure.spring.boot.PerdureTracingAutoConfiguration;
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

/** Traces of runs with the OpenTelemetry of this Spring Boot. */
class TracedTest {
    private static final InMemorySpanExporter EXPORTER = InMemorySpanExporter.create();

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({PerdureAutoConfiguration.class, PerdureTracingAutoConfiguration.class})
    static class Application {
        static final Definition<String, String> ORDER = Definition.of("order", String.class, String.class, (ctx, in) -> {
            ctx.sleep(Duration.ofMillis(1));
            return ctx.step("charge", () -> in);
        });

        @Bean(destroyMethod = "") // it would empty the exporter
        OpenTelemetry openTelemetry() {
            return OpenTelemetrySdk.builder()
                    .setTracerProvider(SdkTracerProvider.builder()
                            .addSpanProcessor(SimpleSpanProcessor.create(EXPORTER))
                            .build())
                    .build();
        }

        @Bean
        Store store() {
            return new MemoryStore();
        }

        @Bean
        Definition<String, String> order() {
            return ORDER;
        }
    }

    @Test
    void runs_are_traced_by_the_starter() {
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .properties("spring.main.banner-mode=off")
                .run()) {
            assertThat(context.getBeansOfType(Tracing.class)).hasSize(1);
            Perdure perdure = context.getBean(Perdure.class);
            assertThat(perdure.start(Invocation.of(Application.ORDER, "pen")).result()).isEqualTo("pen");
        }
        assertThat(EXPORTER.getFinishedSpanItems())
                .extracting(SpanData::getName)
                .containsExactlyInAnyOrder("start order", "sleep", "step charge", "run order");
    }
}
