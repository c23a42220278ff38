package dev.perdure.internal.dag;

import dev.perdure.RunState;
import dev.perdure.error.CancelledException;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.RunFailedException;
import dev.perdure.internal.execution.EngineContext;
import java.time.Instant;

/**
 * The deadline of a DAG. The tasks have the same deadline, so each task that has not ended detects it itself. It ends
 * as cancelled, not as failed, because its own code is not the cause. When all tasks have ended, the DAG fails, like
 * every run that lets a deadline through.
 */
final class DagDeadline {
    private static final String PASSED = "its DAG has passed its deadline ";

    private DagDeadline() {}

    /** Why a task was cancelled. */
    static String reason(Instant deadline) {
        return PASSED + deadline;
    }

    /** The exception with which a task ends when the deadline is delivered to it. */
    static RuntimeException ends(EngineContext task, DeadlineExceededException delivered) {
        return task.deadline()
                .<RuntimeException>map(deadline -> new CancelledException(reason(deadline)))
                .orElse(delivered);
    }

    /** Whether the deadline ended this item. */
    static boolean ended(RunFailedException item) {
        return item.state() == RunState.CANCELLED
                && String.valueOf(item.getMessage()).contains(PASSED);
    }
}
