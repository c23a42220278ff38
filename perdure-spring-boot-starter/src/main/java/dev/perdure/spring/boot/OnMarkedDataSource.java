package dev.perdure.spring.boot;

import java.util.Objects;
import java.util.stream.Stream;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Whether a bean has {@link PerdureDataSource}. Boot's own condition leaves out beans that are no default candidates. */
final class OnMarkedDataSource extends SpringBootCondition implements ConfigurationCondition {
    @Override
    public ConfigurationPhase getConfigurationPhase() {
        return ConfigurationPhase.REGISTER_BEAN;
    }

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        ConfigurableListableBeanFactory beans = Objects.requireNonNull(context.getBeanFactory());
        boolean found = Stream.of(beans.getBeanDefinitionNames())
                .anyMatch(name -> beans.findAnnotationOnBean(name, PerdureDataSource.class, false) != null);
        return new ConditionOutcome(
                found,
                ConditionMessage.forCondition("a bean with @PerdureDataSource")
                        .because(found ? "there is one" : "there is none"));
    }
}
