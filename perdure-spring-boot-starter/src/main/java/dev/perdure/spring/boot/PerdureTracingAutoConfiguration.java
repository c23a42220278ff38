package dev.perdure.spring.boot;

import dev.perdure.opentelemetry.Tracing;
import dev.perdure.spring.boot.internal.RunningEngine;
import io.opentelemetry.api.OpenTelemetry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/** Traces of runs, in an application that has a bean of OpenTelemetry and the module perdure-opentelemetry. */
@AutoConfiguration(
        after = PerdureAutoConfiguration.class,
        // The names in Boot 3 and in Boot 4.
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.opentelemetry.OpenTelemetryAutoConfiguration",
            "org.springframework.boot.opentelemetry.autoconfigure.OpenTelemetrySdkAutoConfiguration"
        })
@ConditionalOnClass({OpenTelemetry.class, Tracing.class})
@ConditionalOnBean({OpenTelemetry.class, RunningEngine.class})
@ConditionalOnProperty(prefix = PerdureProperties.PREFIX, name = "tracing.enabled", matchIfMissing = true)
public final class PerdureTracingAutoConfiguration {
    /** The engine finds it as an interceptor and as a listener. */
    @Bean
    @ConditionalOnMissingBean
    Tracing perdureTracing(OpenTelemetry openTelemetry, ObjectProvider<RunningEngine> engine) {
        // The engine itself: the bean of type Perdure refuses to read runs when the application stops.
        return Tracing.of(openTelemetry, () -> engine.getObject().current());
    }
}
