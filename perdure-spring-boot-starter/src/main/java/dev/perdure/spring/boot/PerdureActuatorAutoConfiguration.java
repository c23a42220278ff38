package dev.perdure.spring.boot;

import dev.perdure.spring.boot.internal.RunningEngine;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

/** The health indicator and the endpoint, in an application that has the actuator. */
@AutoConfiguration(after = PerdureAutoConfiguration.class)
@ConditionalOnBean(RunningEngine.class)
public final class PerdureActuatorAutoConfiguration {
    private static final String INDICATOR = "perdureHealthIndicator";
    private static final String HEALTH_IN_BOOT_3 = "org.springframework.boot.actuate.health.HealthIndicator";
    private static final String HEALTH_IN_BOOT_4 = "org.springframework.boot.health.contributor.HealthIndicator";

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.actuate.endpoint.annotation.Endpoint")
    static class OfEndpoint {
        @Bean
        @ConditionalOnMissingBean
        PerdureEndpoint perdureEndpoint(RunningEngine engine) {
            return new PerdureEndpoint(engine);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = HEALTH_IN_BOOT_3)
    @ConditionalOnMissingClass(HEALTH_IN_BOOT_4)
    @Conditional(OnHealthEnabled.class)
    static class OfHealthInBoot3 {
        @Bean
        @ConditionalOnMissingBean(name = INDICATOR)
        org.springframework.boot.actuate.health.HealthIndicator perdureHealthIndicator(RunningEngine engine) {
            HealthCheck check = new HealthCheck(engine, HealthCheck.PATIENCE);
            return () -> {
                EngineHealth health = check.result();
                return org.springframework.boot.actuate.health.Health.status(health.up() ? "UP" : "DOWN")
                        .withDetails(health.details())
                        .build();
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = HEALTH_IN_BOOT_4)
    @Conditional(OnHealthEnabled.class)
    static class OfHealthInBoot4 {
        @Bean
        @ConditionalOnMissingBean(name = INDICATOR)
        org.springframework.boot.health.contributor.HealthIndicator perdureHealthIndicator(RunningEngine engine) {
            HealthCheck check = new HealthCheck(engine, HealthCheck.PATIENCE);
            return () -> {
                EngineHealth health = check.result();
                return org.springframework.boot.health.contributor.Health.status(health.up() ? "UP" : "DOWN")
                        .withDetails(health.details())
                        .build();
            };
        }
    }
}
