package dev.perdure.spring.boot;

import dev.perdure.micrometer.PerdureMetrics;
import dev.perdure.spi.Store;
import dev.perdure.spi.measure.Measurements;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** The metrics of the engine, in an application that has {@code perdure-micrometer} and a registry of metrics. */
@AutoConfiguration(
        after = PerdureStoreAutoConfiguration.class,
        // The names in Boot 3 and in Boot 4.
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
        })
@ConditionalOnClass({MeterRegistry.class, PerdureMetrics.class})
@ConditionalOnBean(Store.class)
@ConditionalOnSingleCandidate(MeterRegistry.class)
public final class PerdureMetricsAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean(Measurements.class)
    PerdureMetrics perdureMetrics(MeterRegistry registry) {
        return PerdureMetrics.on(registry);
    }
}
