package dev.perdure.bulk;

import dev.perdure.Operations;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Reserved;
import dev.perdure.internal.text.Texts;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What is done to each run that a filter selects: see {@link SelectedRuns#start(BulkAction)}.
 *
 * @param kind what it does
 * @param text the reason, the queue, the version or the position, for an action that has one; otherwise empty
 */
public record BulkAction(Kind kind, String text) {
    /** What an action does to a run. */
    public enum Kind {
        /** Cancels it; its workflow can compensate. */
        CANCEL,
        /** Ends it and its children without letting them compensate. */
        KILL,
        /** Stops it where it is. */
        PAUSE,
        /** Lets it continue. */
        RESUME,
        /** Lets it continue from the step that failed. */
        RETRY,
        /** Lets it begin anew under its id, also if it has compensated. */
        RERUN,
        /** Starts another run with what it has recorded before a position. */
        FORK,
        /** Removes it with everything that belongs to it. */
        DELETE,
        /** Puts it into another queue. */
        MOVE_TO_QUEUE,
        /** Pins it to another version. */
        MOVE_TO_VERSION;

        /** The states of the runs that it is for. */
        public Set<RunState> states() {
            return switch (this) {
                case CANCEL, KILL -> live();
                case PAUSE -> {
                    Set<RunState> awake = live();
                    awake.remove(RunState.PAUSED);
                    yield awake;
                }
                case RESUME -> EnumSet.of(RunState.PAUSED);
                case RETRY, RERUN -> EnumSet.of(RunState.FAILED, RunState.CANCELLED);
                case FORK, DELETE -> EnumSet.complementOf(live());
                case MOVE_TO_QUEUE ->
                    EnumSet.of(RunState.READY, RunState.SUSPENDED, RunState.BACKING_OFF, RunState.PAUSED);
                case MOVE_TO_VERSION -> EnumSet.of(RunState.READY, RunState.SUSPENDED, RunState.PAUSED);
            };
        }

        /** Whether it changes where runs are executed. The engine's own runs stay where every worker takes them. */
        public boolean moves() {
            return this == MOVE_TO_QUEUE || this == MOVE_TO_VERSION;
        }

        private static EnumSet<RunState> live() {
            return Arrays.stream(RunState.values())
                    .filter(state -> !state.isTerminal())
                    .collect(Collectors.toCollection(() -> EnumSet.noneOf(RunState.class)));
        }
    }

    /** Checks that both are given. */
    public BulkAction {
        Texts.requireGiven("kind of the bulk action", kind);
        switch (kind) {
            case CANCEL, KILL, PAUSE, RESUME, RETRY, RERUN, DELETE -> Texts.requireReason(text);
            case FORK -> requirePosition(text);
            case MOVE_TO_QUEUE -> {
                Texts.requireName("queue", text);
                Reserved.requireFreeQueue(text);
            }
            case MOVE_TO_VERSION -> Texts.requireName("version", text);
        }
    }

    private static void requirePosition(String text) {
        if (!text.matches("[1-9]\\d{0,8}")) {
            throw new InvalidRequestException(
                    "The position of the forks is '%s'. Give a number from 1: from 1, each begins with nothing but its input."
                            .formatted(text));
        }
    }

    /** Cancels runs that have not ended. */
    public static BulkAction cancel(String reason) {
        return new BulkAction(Kind.CANCEL, reason);
    }

    /** Ends runs that have not ended, with their children, without letting them compensate. */
    public static BulkAction kill(String reason) {
        return new BulkAction(Kind.KILL, reason);
    }

    /** Pauses runs that have not ended. */
    public static BulkAction pause(String reason) {
        return new BulkAction(Kind.PAUSE, reason);
    }

    /** Lets paused runs continue. Runs that are paused after the bulk action began stay paused. */
    public static BulkAction resume() {
        return new BulkAction(Kind.RESUME, "");
    }

    /**
     * Lets runs that failed or were cancelled continue from the step that failed. Runs that end after the bulk action
     * began are left as they are.
     */
    public static BulkAction retry() {
        return retry("");
    }

    /** {@link #retry()} with a reason, for the audit. */
    public static BulkAction retry(String reason) {
        return new BulkAction(Kind.RETRY, reason);
    }

    /**
     * Lets runs that failed or were cancelled begin anew under their ids, also those that have compensated: see {@link
     * Operations#rerun}. Runs that end after the bulk action began are left as they are.
     */
    public static BulkAction rerun(String reason) {
        return new BulkAction(Kind.RERUN, reason);
    }

    /**
     * Starts another run for each run that has ended, with what that has recorded before a position: see {@link Run#fork}.
     * With position 1 it is the same work once more. Runs that end after the bulk action began are left as they are.
     */
    public static BulkAction fork(int position) {
        return new BulkAction(Kind.FORK, Integer.toString(position));
    }

    /**
     * Removes runs that have ended, however young they are, each with its children and tasks and everything that belongs
     * to them. Their ids are free afterwards. Runs that end after the bulk action began are left as they are.
     */
    public static BulkAction delete() {
        return new BulkAction(Kind.DELETE, "");
    }

    /**
     * Puts runs that no worker holds into another queue. They wait there from then on, and give back their places in the
     * other one.
     */
    public static BulkAction moveToQueue(String queue) {
        return new BulkAction(Kind.MOVE_TO_QUEUE, queue);
    }

    /**
     * Pins runs that are paused, or have never run, to another version. To move others, pause them before and resume
     * them afterwards.
     */
    public static BulkAction moveToVersion(String version) {
        return new BulkAction(Kind.MOVE_TO_VERSION, version);
    }
}
