package dev.perdure;

import dev.perdure.attribute.Attribute;
import dev.perdure.attribute.Description;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RunConflictException;
import dev.perdure.internal.text.StartField;
import dev.perdure.internal.text.Texts;
import dev.perdure.queue.Placement;
import dev.perdure.queue.Requirement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How to start a run. Immutable. Import the factory methods statically:
 *
 * <pre>{@code
 * perdure.start(Orders::process, order, id("order-42").priority(5));
 * }</pre>
 */
public final class StartOptions {
    /** The queue of runs whose options name none. */
    public static final String DEFAULT_QUEUE = "default";

    private static final StartOptions DEFAULTS = new StartOptions(new Draft());

    private final @Nullable RunId id;
    private final String queue;
    private final int priority;
    private final @Nullable String version;
    private final @Nullable Duration timeout;
    private final boolean anyInput;
    private final @Nullable Duration delay;
    private final @Nullable Duration startWithin;
    private final @Nullable StartKey startKey;
    private final List<Message<?>> messages;
    private final Description description;
    private final @Nullable String key;
    private final int weight;
    private final Placement placement;

    /**
     * A message that is in the run's mailbox when it begins.
     *
     * @param topic its topic
     * @param value its value
     * @param <T> the type of both
     */
    public record Message<T extends @Nullable Object>(Topic<T> topic, T value) {}

    /** The options while one of them is being changed. */
    private static final class Draft {
        private @Nullable RunId id;
        private String queue = DEFAULT_QUEUE;
        private int priority;
        private @Nullable String version;
        private @Nullable Duration timeout;
        private boolean anyInput;
        private @Nullable Duration delay;
        private @Nullable Duration startWithin;
        private @Nullable StartKey startKey;
        private List<Message<?>> messages = List.of();
        private Description description = Description.NONE;
        private @Nullable String key;
        private int weight = 1;
        private Placement placement = Placement.ANYWHERE;
    }

    private StartOptions(Draft draft) {
        this.id = draft.id;
        this.queue = StartField.QUEUE.require(draft.queue);
        this.priority = draft.priority;
        this.version = StartField.VERSION.check(draft.version);
        this.timeout = StartField.TIMEOUT.check(draft.timeout);
        this.anyInput = draft.anyInput;
        this.delay = draft.delay == null ? null : StartField.requireTimeOrZero("delay", draft.delay);
        this.startWithin = StartField.START_WITHIN.check(draft.startWithin);
        this.startKey = draft.startKey;
        this.messages = draft.messages;
        this.description = draft.description;
        this.placement = draft.placement;
        this.weight = StartField.WEIGHT.require(draft.weight);
        this.key = StartField.KEY.check(draft.key);
        if (startKey != null) {
            requireFittingKey(startKey);
        }
    }

    /** A key chooses the run; a debounce also chooses when it begins. */
    private void requireFittingKey(StartKey given) {
        if (id != null) {
            throw new InvalidRequestException(
                    "The start has the id '%s' and the key '%s'. The key chooses the run and its id: leave one of them out."
                            .formatted(id, given.key()));
        }
        if (given instanceof StartKey.Debounce) {
            requireUndebounced(given, "delay", delay != null, "The debounce says when the run begins");
            requireUndebounced(given, "time to start within", startWithin != null, "The debounce moves its start");
            requireUndebounced(given, "message", !messages.isEmpty(), "Only the input of the last start counts");
        }
        if (given instanceof StartKey.Deduplication deduplication
                && deduplication.until() == StartKey.Until.ENDED
                && deduplication.duplicate() == StartKey.Duplicate.REPLACE
                && delay != null) {
            throw new InvalidRequestException(
                    "The start under the key '%s' has a delay, and begins when the run that it replaces has ended. Leave the delay out, or replace runs only until they begin."
                            .formatted(given.key()));
        }
    }

    private static void requireUndebounced(StartKey given, String what, boolean has, String why) {
        if (has) {
            throw new InvalidRequestException("The start under the debounce key '%s' has a %s. %s: leave the %s out."
                    .formatted(given.key(), what, why, what));
        }
    }

    private StartOptions with(Consumer<Draft> change) {
        Draft draft = new Draft();
        draft.id = id;
        draft.queue = queue;
        draft.priority = priority;
        draft.version = version;
        draft.timeout = timeout;
        draft.anyInput = anyInput;
        draft.delay = delay;
        draft.startWithin = startWithin;
        draft.startKey = startKey;
        draft.messages = messages;
        draft.description = description;
        draft.key = key;
        draft.weight = weight;
        draft.placement = placement;
        change.accept(draft);
        return new StartOptions(draft);
    }

    /** A generated id, the default queue, priority 0, no timeout. */
    public static StartOptions defaults() {
        return DEFAULTS;
    }

    /** Starts the run under this id, or attaches to the run that already has it. */
    public static StartOptions id(String id) {
        return DEFAULTS.withId(RunId.of(id));
    }

    /** Starts the run under this key, which says what a second start does. */
    public static StartOptions under(StartKey key) {
        return DEFAULTS.startKey(key);
    }

    /** Starts the run after this delay. */
    public static StartOptions after(Duration delay) {
        Texts.requireGiven("delay", delay);
        return DEFAULTS.delay(delay);
    }

    /** Starts the run under this id, or attaches to the run that already has it. */
    public StartOptions withId(RunId runId) {
        Texts.requireGiven("run id", runId);
        return with(draft -> draft.id = runId);
    }

    /** Puts the run into this queue, if the starting worker does not run it at once. */
    public StartOptions queue(String name) {
        return with(draft -> draft.queue = name);
    }

    /**
     * Puts the run under this key of its queue, such as the customer. Workers take runs of different keys in turns, so
     * that a key with many waiting runs does not delay the others, and a queue may limit how many runs of one key there
     * are at once. Children do not inherit the key; the tasks and the items of a DAG do.
     *
     * @param value the key, at most 200 characters
     */
    public StartOptions key(String value) {
        Texts.requireGiven("key", value);
        return with(draft -> draft.key = value);
    }

    /**
     * How many units of its queue's rate the run takes when it begins. One by default. Without a rate it has no effect. The
     * run of a DAG takes none; each of its tasks and items takes as many.
     */
    public StartOptions weight(int units) {
        return with(draft -> draft.weight = units);
    }

    /**
     * Lets only workers run the run whose labels meet all of these requirements, and those required before:
     * {@code requires("gpu=true", "memory>=16")}. If no live worker does, the run waits, and says so. It applies
     * whenever the run begins or continues. Children do not inherit it; the tasks and the items of a DAG do.
     *
     * @param requirements labels with =, &gt;= or &lt;= and a value
     */
    public StartOptions requires(String... requirements) {
        return with(draft -> draft.placement = placement.requiring(parsed(requirements)));
    }

    /**
     * Lets workers run the run whose labels meet all of these requirements, and those preferred before. If none of them
     * is alive, or none has taken it {@linkplain Placement#PREFERENCE five seconds} after it became ready, any worker
     * may.
     *
     * @param requirements labels with =, &gt;= or &lt;= and a value
     */
    public StartOptions prefers(String... requirements) {
        return with(draft -> draft.placement = placement.preferring(parsed(requirements)));
    }

    private static Requirement[] parsed(String... requirements) {
        Texts.requireGiven("list of requirements", requirements);
        return Arrays.stream(requirements).map(StartOptions::requirement).toArray(Requirement[]::new);
    }

    private static Requirement requirement(String text) {
        Requirement requirement = Requirement.of(text);
        if (requirement.label().equals(Requirement.WORKER)) {
            throw new InvalidRequestException(
                    "The requirement '%s' names a worker, and worker ids change with every start of a process. Use a label, or ChildOptions.sticky."
                            .formatted(text));
        }
        return requirement;
    }

    /** Sets the priority. Workers take runs with a higher priority first. */
    public StartOptions priority(int value) {
        return with(draft -> draft.priority = value);
    }

    /** Pins the run to workers of this version. */
    public StartOptions version(String tag) {
        Texts.requireGiven("version", tag);
        return with(draft -> draft.version = tag);
    }

    /**
     * Sets the timeout. When it has passed, the workflow gets {@link DeadlineExceededException}. In the run of a DAG,
     * the engine cancels the tasks that have not ended, and fails the run when they have.
     */
    public StartOptions timeout(Duration limit) {
        Texts.requireGiven("timeout", limit);
        return with(draft -> draft.timeout = limit);
    }

    /** Attaches to an existing run with this id and definition even if its input is different. */
    public StartOptions attachToAnyInput() {
        return with(draft -> draft.anyInput = true);
    }

    /** Starts the run after this delay. */
    public StartOptions delay(Duration duration) {
        Texts.requireGiven("delay", duration);
        return with(draft -> draft.delay = duration);
    }

    /**
     * Ends the run as {@link RunState#CANCELLED} if it has not begun within this time. A run has begun when a worker
     * has taken it for the first time; a run that the starting process takes itself has begun at once. The time counts
     * from the start, or from the end of the delay if there is one, by the store's clock. A DAG has begun when one of
     * its tasks has begun.
     */
    public StartOptions startWithin(Duration limit) {
        Texts.requireGiven("time to start within", limit);
        return with(draft -> draft.startWithin = limit);
    }

    /**
     * Starts the run under this key, which says what a second start does: see {@link StartKey}. A start that attaches
     * follows the rules of ids: if the run that has the key was started with another input, it throws
     * {@link RunConflictException}, unless {@link #attachToAnyInput} is set.
     */
    public StartOptions startKey(StartKey startKeyOfRun) {
        Texts.requireGiven("start key", startKeyOfRun);
        return with(draft -> draft.startKey = startKeyOfRun);
    }

    /**
     * Puts a message into the run's mailbox before it begins, after those added before. If the start attaches to an
     * existing run, nothing is sent.
     */
    public <T extends @Nullable Object> StartOptions message(Topic<T> topic, T value) {
        Texts.requireGiven("topic", topic);
        List<Message<?>> more = new ArrayList<>(messages);
        more.add(new Message<>(topic, value));
        return with(draft -> draft.messages = List.copyOf(more));
    }

    /**
     * Gives the run an attribute to be found by, such as a customer or a region, in place of an earlier one of this
     * name. The workflow may change it later: see {@link WorkflowContext#attribute}. A start that attaches to an
     * existing run leaves that run's attributes as they are. Children and tasks do not inherit them. All names and
     * values of a run together have at most 2,000 bytes in UTF-8.
     */
    public <T> StartOptions attribute(Attribute<T> attribute, T value) {
        Texts.requireGiven("attribute", attribute);
        Description described = description.with(attribute.name(), attribute.value(value));
        return with(draft -> draft.description = described);
    }

    /**
     * Gives the run a memo: a text that people read in the run's information, and by which no run is found.
     *
     * @param text the memo, at most 4,000 characters
     */
    public StartOptions memo(String text) {
        Description described = description.withMemo(text);
        return with(draft -> draft.description = described);
    }

    /** The chosen id, if one was chosen. */
    public Optional<RunId> id() {
        return Optional.ofNullable(id);
    }

    /** The queue. */
    public String queue() {
        return queue;
    }

    /** The key in the queue, if any. */
    public Optional<String> key() {
        return Optional.ofNullable(key);
    }

    /** How many units of the rate of its queue it takes. */
    public int weight() {
        return weight;
    }

    /** Which workers may run the run. */
    public Placement placement() {
        return placement;
    }

    /** The priority. */
    public int priority() {
        return priority;
    }

    /** The version that the run is pinned to, if any. */
    public Optional<String> version() {
        return Optional.ofNullable(version);
    }

    /** The timeout of the run, if any. */
    public Optional<Duration> timeout() {
        return Optional.ofNullable(timeout);
    }

    /** The delay before the run begins, if any; of a debounced run the quiet time. */
    public Optional<Duration> delay() {
        return startKey instanceof StartKey.Debounce debounce
                ? Optional.of(debounce.quiet())
                : Optional.ofNullable(delay);
    }

    /** The time within which the run has to begin, if any. */
    public Optional<Duration> startWithin() {
        return Optional.ofNullable(startWithin);
    }

    /** The key under which it is started, if any. */
    public Optional<StartKey> startKey() {
        return Optional.ofNullable(startKey);
    }

    /** The messages in its mailbox when it begins. */
    public List<Message<?>> messages() {
        return messages;
    }

    /** The attributes and the memo. */
    public Description description() {
        return description;
    }

    /** Whether a start attaches to a run with a different input. */
    public boolean attachesToAnyInput() {
        return anyInput;
    }
}
