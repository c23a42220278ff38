package dev.perdure;

import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.RunConflictException;
import java.time.Duration;

/**
 * How a child is started, and what becomes of it when its parent is cancelled. Immutable; made to be imported statically:
 *
 * <pre>{@code
 * ctx.startChild(Shipping::ship, parcel, childId("parcel-7").onCancel(ChildOptions.OnCancel.ABANDON));
 * }</pre>
 */
public final class ChildOptions {
    /** What a cancel of the parent means for the child. */
    public enum OnCancel {
        /** The child is cancelled too; the parent goes on at once. */
        CANCEL,
        /** The child is cancelled too, and the parent gets its own cancel only when the child has ended. */
        WAIT,
        /** The child goes on. */
        ABANDON
    }

    private static final ChildOptions DEFAULTS = new ChildOptions(StartOptions.defaults(), OnCancel.CANCEL);

    private final StartOptions start;
    private final OnCancel onCancel;

    private ChildOptions(StartOptions start, OnCancel onCancel) {
        this.start = start;
        this.onCancel = onCancel;
    }

    /** An id made from the parent's, the default queue, no timeout of its own, cancelled with its parent. */
    public static ChildOptions defaults() {
        return DEFAULTS;
    }

    /** Starts under this id. If it is taken, waiting for the child fails with {@link RunConflictException}. */
    public static ChildOptions childId(String id) {
        return DEFAULTS.with(StartOptions.id(id));
    }

    /** Starts after this long. */
    public static ChildOptions after(Duration delay) {
        return DEFAULTS.delay(delay);
    }

    private ChildOptions with(StartOptions options) {
        return new ChildOptions(options, onCancel);
    }

    /** Waits in this queue. */
    public ChildOptions queue(String name) {
        return with(start.queue(name));
    }

    /** Higher goes first. */
    public ChildOptions priority(int value) {
        return with(start.priority(value));
    }

    /** Only workers of this version may take it. */
    public ChildOptions version(String tag) {
        return with(start.version(tag));
    }

    /** After this long {@link DeadlineExceededException} is delivered into it, or at the parent's deadline if that is earlier. */
    public ChildOptions timeout(Duration limit) {
        return with(start.timeout(limit));
    }

    /** Starts after this long. */
    public ChildOptions delay(Duration delay) {
        return with(start.delay(delay));
    }

    /** What a cancel of the parent means for it. */
    public ChildOptions onCancel(OnCancel meaning) {
        return new ChildOptions(start, meaning);
    }

    /** How it is started. */
    public StartOptions start() {
        return start;
    }

    /** What a cancel of the parent means for it. */
    public OnCancel onCancel() {
        return onCancel;
    }
}
