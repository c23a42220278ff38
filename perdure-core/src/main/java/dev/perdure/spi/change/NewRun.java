package dev.perdure.spi.change;

import dev.perdure.RunId;
import dev.perdure.attribute.Description;
import dev.perdure.queue.Placement;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A run to start.
 *
 * @param id its id
 * @param definition the name of its definition
 * @param input its encoded input
 * @param seed 64 random bits: the seed of the run's generated ids and random numbers, and the token by which the store
 *     recognises a start that was sent twice
 * @param queue its queue
 * @param priority its priority; workers take higher ones first
 * @param version the version of workers that it is pinned to, or null
 * @param timeout its timeout, or null
 * @param delay how long it waits before it is ready, or null
 * @param parent the run that starts it, or null
 * @param object the virtual object that it calls, or null
 * @param description its attributes and its memo
 * @param queueKey the key in its queue, such as a customer, or null
 * @param admission the conditions under which it is started and begins
 */
public record NewRun(
        RunId id,
        String definition,
        Payload input,
        long seed,
        String queue,
        int priority,
        @Nullable String version,
        @Nullable Duration timeout,
        @Nullable Duration delay,
        @Nullable Parent parent,
        @Nullable ObjectCall object,
        Description description,
        @Nullable String queueKey,
        Admission admission) {
    /** A run that is started and begins unconditionally. */
    public NewRun(
            RunId id,
            String definition,
            Payload input,
            long seed,
            String queue,
            int priority,
            @Nullable String version,
            @Nullable Duration timeout,
            @Nullable Duration delay,
            @Nullable Parent parent,
            @Nullable ObjectCall object,
            Description description,
            @Nullable String queueKey) {
        this(
                id,
                definition,
                input,
                seed,
                queue,
                priority,
                version,
                timeout,
                delay,
                parent,
                object,
                description,
                queueKey,
                Admission.UNCONDITIONAL);
    }

    /** A run without a description and without a key. */
    public NewRun(
            RunId id,
            String definition,
            Payload input,
            long seed,
            String queue,
            int priority,
            @Nullable String version,
            @Nullable Duration timeout,
            @Nullable Duration delay,
            @Nullable Parent parent,
            @Nullable ObjectCall object) {
        this(
                id,
                definition,
                input,
                seed,
                queue,
                priority,
                version,
                timeout,
                delay,
                parent,
                object,
                Description.NONE,
                null);
    }

    /** A run that does not call a virtual object. */
    public NewRun(
            RunId id,
            String definition,
            Payload input,
            long seed,
            String queue,
            int priority,
            @Nullable String version,
            @Nullable Duration timeout,
            @Nullable Duration delay,
            @Nullable Parent parent) {
        this(id, definition, input, seed, queue, priority, version, timeout, delay, parent, null);
    }

    /** A run that is ready at once and has no parent. */
    public NewRun(
            RunId id,
            String definition,
            Payload input,
            long seed,
            String queue,
            int priority,
            @Nullable String version,
            @Nullable Duration timeout) {
        this(id, definition, input, seed, queue, priority, version, timeout, null, null);
    }

    /** The same run in another queue, and pinned to another version or to none. */
    public NewRun in(String otherQueue, @Nullable String otherVersion) {
        return new NewRun(
                id,
                definition,
                input,
                seed,
                otherQueue,
                priority,
                otherVersion,
                timeout,
                delay,
                parent,
                object,
                description,
                queueKey,
                admission);
    }

    /**
     * The same run with the settings that it inherits from the run on whose behalf it is started.
     *
     * @param kind what it is for that run
     * @param other that run
     * @param chosen the settings that its own start names: it does not inherit them where it may choose
     */
    public NewRun startedFor(StartedFor kind, NewRun other, Set<Setting> chosen) {
        NewRun run = this;
        for (Setting setting : Setting.values()) {
            boolean inherits = switch (setting.of(kind)) {
                case INHERITED -> true;
                case OWN_OR_INHERITED -> !chosen.contains(setting);
                case OWN, LIMITED, DEFAULT -> false;
            };
            if (inherits) {
                run = run.with(setting, other);
            }
        }
        return run;
    }

    /** The same run with this setting of another one. */
    private NewRun with(Setting setting, NewRun other) {
        return switch (setting) {
            case QUEUE -> in(other.queue, version);
            case KEY -> withQueueKey(other.queueKey);
            case PRIORITY -> timed(other.priority, timeout, delay);
            case WEIGHT -> withAdmission(admission.weighing(other.admission.weight()));
            case PLACEMENT -> at(other.placement());
            case VERSION -> in(queue, other.version);
            case TIMEOUT -> timed(priority, other.timeout, delay);
            case DELAY -> timed(priority, timeout, other.delay);
            case START_WITHIN -> withAdmission(admission.beginningWithin(other.admission.startWithin()));
            case START_KEY -> withAdmission(admission.withKey(other.admission.startKey(), admission.unanswered()));
            case ATTRIBUTES -> describedAs(description.withAttributes(other.description.attributes()));
            case MEMO ->
                describedAs(new Description(
                        description.attributes(),
                        other.description.memo(),
                        description.status(),
                        description.headers()));
            case HEADERS -> describedAs(description.withHeaders(other.description.headers()));
            case STATUS ->
                describedAs(new Description(
                        description.attributes(),
                        description.memo(),
                        other.description.status(),
                        description.headers()));
        };
    }

    private NewRun timed(int newPriority, @Nullable Duration newTimeout, @Nullable Duration newDelay) {
        return new NewRun(
                id,
                definition,
                input,
                seed,
                queue,
                newPriority,
                version,
                newTimeout,
                newDelay,
                parent,
                object,
                description,
                queueKey,
                admission);
    }

    /** The same run with another parent, or with none. */
    public NewRun withParent(@Nullable Parent other) {
        return copy(input, seed, other, object, description, queueKey, admission);
    }

    /** The same run with another input. */
    public NewRun withInput(Payload other) {
        return copy(other, seed, parent, object, description, queueKey, admission);
    }

    /** The same run with another seed. */
    public NewRun withSeed(long other) {
        return copy(input, other, parent, object, description, queueKey, admission);
    }

    /** The same run as a call of a virtual object. */
    public NewRun on(@Nullable ObjectCall call) {
        return copy(input, seed, parent, call, description, queueKey, admission);
    }

    /** The same run with another description. */
    public NewRun describedAs(Description other) {
        return copy(input, seed, parent, object, other, queueKey, admission);
    }

    /** The same run under this key of its queue. */
    public NewRun withQueueKey(@Nullable String other) {
        return copy(input, seed, parent, object, description, other, admission);
    }

    /** The same run under these conditions. */
    public NewRun withAdmission(Admission other) {
        return copy(input, seed, parent, object, description, queueKey, other);
    }

    /** Which workers may run it. */
    public Placement placement() {
        return admission.placement();
    }

    /** The same run on other workers. */
    public NewRun at(Placement other) {
        return withAdmission(admission.at(other));
    }

    private NewRun copy(
            Payload newInput,
            long newSeed,
            @Nullable Parent newParent,
            @Nullable ObjectCall newObject,
            Description newDescription,
            @Nullable String newQueueKey,
            Admission newAdmission) {
        return new NewRun(
                id,
                definition,
                newInput,
                newSeed,
                queue,
                priority,
                version,
                timeout,
                delay,
                newParent,
                newObject,
                newDescription,
                newQueueKey,
                newAdmission);
    }
}
