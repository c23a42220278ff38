package dev.perdure;

import dev.perdure.attribute.Attribute;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.RunConflictException;
import dev.perdure.error.RunFailedException;
import dev.perdure.internal.text.Texts;
import java.time.Duration;

/**
 * How to start a child run, and what happens to it when its parent is cancelled. Immutable. Import the factory methods
 * statically:
 *
 * <pre>{@code
 * ctx.startChild(Invocation.of(Shipping::ship, parcel), childId("parcel-7").onCancel(ChildOptions.OnCancel.ABANDON));
 * }</pre>
 */
public final class ChildOptions {
    /** What cancelling the parent does to the child. */
    public enum OnCancel {
        /** Cancels the child too. The parent gets its own cancel at once. */
        CANCEL,
        /** Cancels the child too. The parent gets its own cancel when the child has ended. */
        WAIT,
        /** Leaves the child running. */
        ABANDON
    }

    /** Whether the child runs where its parent is when it starts the child, such as beside a file in a local cache. */
    public enum Sticky {
        /** On any worker. The default. */
        NONE,
        /**
         * On the worker of the parent. If that has not taken it five seconds after the child became ready, or is gone,
         * any worker may.
         */
        SOFT,
        /**
         * Only on the worker of the parent. If that worker is gone, the child is cancelled: a child that has not begun
         * ends at once, and one that has begun gets the cancel on any other worker, so that its compensations run. A
         * worker is gone when its process has closed or died, or has lost its lease.
         */
        HARD
    }

    private static final ChildOptions DEFAULTS =
            new ChildOptions(StartOptions.defaults(), OnCancel.CANCEL, Sticky.NONE);

    private final StartOptions start;
    private final OnCancel onCancel;
    private final Sticky sticky;

    private ChildOptions(StartOptions start, OnCancel onCancel, Sticky sticky) {
        this.start = start;
        this.onCancel = onCancel;
        this.sticky = sticky;
    }

    /** An id derived from the parent's, the default queue, no timeout of its own, and {@link OnCancel#CANCEL}. */
    public static ChildOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Starts the child under this id. If another run has it, awaiting the child throws {@link RunConflictException}.
     */
    public static ChildOptions childId(String id) {
        return DEFAULTS.with(StartOptions.id(id));
    }

    /** Starts the child after this delay. */
    public static ChildOptions after(Duration delay) {
        Texts.requireGiven("delay", delay);
        return DEFAULTS.delay(delay);
    }

    private ChildOptions with(StartOptions options) {
        return new ChildOptions(options, onCancel, sticky);
    }

    /** Puts the child into this queue. */
    public ChildOptions queue(String name) {
        return with(start.queue(name));
    }

    /** Puts the child under this key of its queue: see {@link StartOptions#key}. */
    public ChildOptions key(String value) {
        Texts.requireGiven("key", value);
        return with(start.key(value));
    }

    /** How many units of the rate of its queue the child takes when it begins: see {@link StartOptions#weight}. */
    public ChildOptions weight(int units) {
        return with(start.weight(units));
    }

    /** Lets only workers with these labels run the child: see {@link StartOptions#requires}. */
    public ChildOptions requires(String... requirements) {
        return with(start.requires(requirements));
    }

    /** Lets workers with these labels run the child, if they take it in time: see {@link StartOptions#prefers}. */
    public ChildOptions prefers(String... requirements) {
        return with(start.prefers(requirements));
    }

    /** Whether the child runs on the worker of its parent. */
    public ChildOptions sticky(Sticky how) {
        Texts.requireGiven("kind of stickiness", how);
        return new ChildOptions(start, onCancel, how);
    }

    /** Sets the priority. Workers take runs with a higher priority first. */
    public ChildOptions priority(int value) {
        return with(start.priority(value));
    }

    /** Pins the child to workers of this version. */
    public ChildOptions version(String tag) {
        Texts.requireGiven("version", tag);
        return with(start.version(tag));
    }

    /**
     * Sets the child's timeout. When it has passed, or at the parent's deadline if that is earlier, the child gets
     * {@link DeadlineExceededException}.
     */
    public ChildOptions timeout(Duration limit) {
        Texts.requireGiven("timeout", limit);
        return with(start.timeout(limit));
    }

    /** Starts the child after this delay. */
    public ChildOptions delay(Duration delay) {
        Texts.requireGiven("delay", delay);
        return with(start.delay(delay));
    }

    /**
     * Ends the child as cancelled if it has not begun within this time: see {@link StartOptions#startWithin}. Awaiting
     * it then throws {@link RunFailedException}.
     */
    public ChildOptions startWithin(Duration limit) {
        return with(start.startWithin(limit));
    }

    /** Gives the child an attribute to be found by: see {@link StartOptions#attribute}. */
    public <T> ChildOptions attribute(Attribute<T> attribute, T value) {
        return with(start.attribute(attribute, value));
    }

    /** Gives the child a memo: see {@link StartOptions#memo}. */
    public ChildOptions memo(String text) {
        return with(start.memo(text));
    }

    /** What cancelling the parent does to the child. */
    public ChildOptions onCancel(OnCancel meaning) {
        Texts.requireGiven("meaning of a cancel", meaning);
        return new ChildOptions(start, meaning, sticky);
    }

    /** The options that it shares with every start. */
    public StartOptions start() {
        return start;
    }

    /** What cancelling the parent does to the child. */
    public OnCancel onCancel() {
        return onCancel;
    }

    /** Whether the child runs on the worker of its parent. */
    public Sticky sticky() {
        return sticky;
    }
}
