package dev.perdure.internal.execution.transition;

import dev.perdure.error.ContextMisuseException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.Unwind;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.replay.Replay;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Recorded;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The checks at the beginning of every context call: whether the call is allowed here, and which position it takes. */
public final class ContextCalls {
    private static final Duration LONGEST = Duration.ofDays(36_500);

    private final HeldRun held;
    private final Transitions transitions;
    private final Replay replay;
    private final BooleanSupplier inBody;
    private final Thread thread = Thread.currentThread();
    private volatile boolean closed;
    private int latestStep;
    private int latestBeside;

    public ContextCalls(HeldRun held, Transitions transitions, Replay replay, BooleanSupplier inBody) {
        this.held = held;
        this.transitions = transitions;
        this.replay = replay;
        this.inBody = inBody;
    }

    /** The workflow has returned. */
    public void close() {
        closed = true;
        transitions.departure().ifPresent(gone -> {
            throw new Unwind("the workflow returned after it had left memory");
        });
    }

    /**
     * Asks the journal. If the code does not fit it, the run leaves at once, because user code could catch an ordinary
     * exception.
     */
    public <T> T fitting(Supplier<T> question) {
        try {
            return question.get();
        } catch (Replay.Mismatch mismatch) {
            throw transitions.stop(String.valueOf(mismatch.getMessage()));
        }
    }

    /** The code makes the recorded call, but with other arguments. */
    public Unwind differs(ContextCall call, String recorded, String asked) {
        return transitions.stop(replay.message(call.position(), recorded, asked));
    }

    public void enter(String call) {
        requireUsable(call);
        transitions.obeySignals();
    }

    /** Refuses a use of the context after the run, inside a body and on other threads. */
    public void requireUsable(String call) {
        if (closed) {
            throw new ContextMisuseException(
                    "%s was called after run '%s' had left this worker's memory. A context ends with its workflow: do not keep it."
                            .formatted(call, held.run().id()));
        }
        if (inBody.getAsBoolean()) {
            throw new ContextMisuseException(
                    "%s was called inside a step body of run '%s'. A body is one effect: call the context before or after it."
                            .formatted(call, held.run().id()));
        }
        Thread caller = Thread.currentThread();
        if (!caller.equals(thread)) {
            throw new ContextMisuseException(
                    "%s was called from thread '%s', which is not the thread of run '%s'. Call the context from the workflow's own thread."
                            .formatted(call, nameOf(caller), held.run().id()));
        }
    }

    /** Whether the caller is the workflow's own thread. */
    public boolean isThreadOfRun() {
        return Thread.currentThread().equals(thread);
    }

    /** A virtual thread has a name only if its creator gave it one. */
    private static String nameOf(Thread thread) {
        return thread.getName().isEmpty() ? "#" + thread.threadId() : thread.getName();
    }

    /** Enters a call and takes its position. */
    public ContextCall take(String what, Entry.Kind kind, String name) {
        enter(what);
        transitions.awaitTurn();
        ContextCall call = fitting(() -> replay.take(kind, name));
        latestStep = hasEffect(kind) ? call.position() : latestStep;
        return call;
    }

    /**
     * Enters a call that only reads or writes the state of the virtual object, and so may happen ahead of the run's
     * turn.
     */
    public ContextCall takeAhead(String what, Entry.Kind kind, String name) {
        enter(what);
        return fitting(() -> replay.take(kind, name));
    }

    /** Enters a call whose answer may come later than those of calls after it, and takes its position. */
    public ContextCall open(String what, Entry.Kind kind, String name) {
        enter(what);
        transitions.awaitTurn();
        ContextCall call = fitting(() -> replay.take(kind, name, true));
        latestBeside = hasEffect(kind) ? call.position() : latestBeside;
        return call;
    }

    private static boolean hasEffect(Entry.Kind kind) {
        return kind == Entry.Kind.STEP || kind == Entry.Kind.TRANSACTION || kind == Entry.Kind.CHILD;
    }

    /** The position of the latest call. */
    public int position() {
        return replay.position();
    }

    /** The position of the latest step that the code has waited for right away. */
    public int latestStep() {
        return latestStep;
    }

    /** The position of the latest step or child that was started beside others. */
    public int latestBeside() {
        return latestBeside;
    }

    /** Enters a call that leaves no entry, and takes its position. */
    public int derived(String what) {
        enter(what);
        return fitting(() -> replay.takeDerived(what + "()"));
    }

    public Replay.Past past(ContextCall call) {
        return replay.past(call);
    }

    /** The entries of a call. Throws again what was delivered there. */
    public Replay.Past rethrowDelivered(ContextCall call) {
        Replay.Past past = replay.past(call);
        past.answer().map(Recorded::entry).filter(ContextCalls::isDelivery).ifPresent(entry -> {
            throw transitions.delivered(entry);
        });
        return past;
    }

    private static boolean isDelivery(Entry entry) {
        return entry.status() == Entry.Status.CANCELLED || entry.status() == Entry.Status.DEADLINE;
    }

    /** Whether the run is a fork, and another run has recorded this. */
    public boolean isCopied(Recorded recorded) {
        return replay.isCopied(recorded);
    }

    /** Whether the journal has entries that the code has not reached yet. */
    public boolean replaying() {
        return fitting(replay::replaying);
    }

    public boolean nextIsPatch(String id) {
        return fitting(() -> replay.nextIsPatch(id));
    }

    public static void requireStorable(String what, @Nullable Duration duration) {
        if (duration == null || duration.compareTo(LONGEST) > 0) {
            throw new InvalidRequestException(
                    "The %s is %s; it is at most %s days.".formatted(what, duration, LONGEST.toDays()));
        }
    }
}
