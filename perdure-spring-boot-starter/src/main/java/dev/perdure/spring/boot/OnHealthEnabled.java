package dev.perdure.spring.boot;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Whether the application wants the health indicator: by its own property, otherwise by the one for all indicators. Boot's
 * annotation for it has moved from Boot 3 to 4.
 */
final class OnHealthEnabled extends SpringBootCondition {
    private static final String OWN = "management.health.perdure.enabled";
    private static final String ALL = "management.health.defaults.enabled";

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        Environment environment = context.getEnvironment();
        String property = environment.containsProperty(OWN) ? OWN : ALL;
        boolean enabled = environment.getProperty(property, Boolean.class, true);
        return new ConditionOutcome(
                enabled,
                ConditionMessage.forCondition("the health of Perdure")
                        .because(property + " is " + (enabled ? "on" : "off")));
    }
}
