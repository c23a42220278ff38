package dev.perdure.spring.boot.internal;

import dev.perdure.RetryPolicy;
import dev.perdure.RunListener;
import dev.perdure.audit.Operator;
import dev.perdure.error.DefinitionException;
import dev.perdure.interceptor.Interceptor;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.Queue;
import dev.perdure.reaction.Reaction;
import dev.perdure.retention.Retention;
import dev.perdure.schedule.Schedule;
import dev.perdure.spi.Codec;
import dev.perdure.spi.measure.Measurements;
import dev.perdure.spi.payload.PayloadTransform;
import java.util.List;
import java.util.Optional;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** The beans of an application that an engine is set up with. Each call looks them up. */
public final class EngineBeans {
    private final ConfigurableListableBeanFactory beans;

    /** Those in this factory. */
    public EngineBeans(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    /** Objects with workflow methods, virtual objects, definitions and DAGs. */
    public Object[] workflows() {
        return WorkflowBeans.of(beans).toArray();
    }

    /** The queues to declare. */
    public List<Queue> queues() {
        return all(Queue.class);
    }

    /** The schedules to declare. */
    public Schedule[] schedules() {
        return all(Schedule.class).toArray(Schedule[]::new);
    }

    /** The limiters to declare. */
    public Limiter[] limiters() {
        return all(Limiter.class).toArray(Limiter[]::new);
    }

    /** The reactions to declare. */
    public Reaction[] reactions() {
        return all(Reaction.class).toArray(Reaction[]::new);
    }

    /** The listeners to call. */
    public List<RunListener> listeners() {
        return all(RunListener.class);
    }

    /** The code around the bodies of steps. */
    public List<Interceptor> interceptors() {
        return all(Interceptor.class);
    }

    /** What gets the measurements of the engine, if anything does. */
    public Optional<Measurements> measurements() {
        return one(Measurements.class);
    }

    /** The retry policy, if there is one. */
    public Optional<RetryPolicy> retry() {
        return one(RetryPolicy.class);
    }

    /** The codec, if there is one. */
    public Optional<Codec> codec() {
        return one(Codec.class);
    }

    /** What encrypts or compresses values, if there is something. */
    public Optional<PayloadTransform> transform() {
        return one(PayloadTransform.class);
    }

    /** The retention, if there is one. */
    public Optional<Retention> retention() {
        return one(Retention.class);
    }

    /** The operator, if there is one. */
    public Optional<Operator> operator() {
        return one(Operator.class);
    }

    /** All beans of this type, in their order. */
    public <T> List<T> all(Class<T> type) {
        return beans.getBeanProvider(type).orderedStream().toList();
    }

    private <T> Optional<T> one(Class<T> type) {
        try {
            return Optional.ofNullable(beans.getBeanProvider(type).getIfAvailable());
        } catch (NoUniqueBeanDefinitionException several) {
            throw new DefinitionException(
                    "The application has several beans of type %s, and the engine has one: %s. Mark that one with @Primary."
                            .formatted(type.getSimpleName(), several.getBeanNamesFound()),
                    several);
        }
    }
}
