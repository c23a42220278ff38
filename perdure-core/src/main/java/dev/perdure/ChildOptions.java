package dev.perdure;

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

    private static final ChildOptions DEFAULTS = new ChildOptions(StartOptions.defaults(), OnCancel.CANCEL);

    private final StartOptions start;
    private final OnCancel onCancel;

    private ChildOptions(StartOptions start, OnCancel onCancel) {
        this.start = start;
        this.onCancel = onCancel;
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
        return new ChildOptions(options, onCancel);
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
    public ChildOptions attribute(String name, String value) {
        return with(start.attribute(name, value));
    }

    /** What cancelling the parent does to the child. */
    public ChildOptions onCancel(OnCancel meaning) {
        Texts.requireGiven("meaning of a cancel", meaning);
        return new ChildOptions(start, meaning);
    }

    /** The options that it shares with every start. */
    public StartOptions start() {
        return start;
    }

    /** What cancelling the parent does to the child. */
    public OnCancel onCancel() {
        return onCancel;
    }
}
