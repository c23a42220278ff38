package dev.perdure.error;

import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunState;
import org.jspecify.annotations.Nullable;

/** Thrown by {@link Run#result()} when the run ended without a result: it failed, was cancelled or was skipped. */
public final class RunFailedException extends PerdureException {
    private static final long serialVersionUID = 1L;

    private final RunId runId;
    private final RunState state;

    /** For the engine. */
    public RunFailedException(RunId runId, RunState state, String message, @Nullable RecordedException cause) {
        super(message, cause);
        this.runId = runId;
        this.state = state;
    }

    /** For the engine: the run of a DAG. */
    public RunFailedException(RunId runId, RunState state, String message, TasksFailedException cause) {
        super(message, cause);
        this.runId = runId;
        this.state = state;
    }

    /** The run that ended. */
    public RunId runId() {
        return runId;
    }

    /** How it ended. */
    public RunState state() {
        return state;
    }
}
