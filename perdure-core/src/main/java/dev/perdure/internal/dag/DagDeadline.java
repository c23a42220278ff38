package dev.perdure.internal.dag;

import dev.perdure.RunState;
import dev.perdure.error.CancelledException;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.RunFailedException;
import dev.perdure.internal.execution.EngineContext;
import java.time.Instant;

/**
 * The deadline of a DAG. Its tasks have it too, so each that has not ended finds out by itself; it is cancelled by that and has not
 * failed, because it is not to blame. When all have ended the DAG fails, as other runs do that let a deadline through.
 */
final class DagDeadline {
    private static final String PASSED = "its DAG has passed its deadline ";

    private DagDeadline() {}

    /** Why a task was cancelled. */
    static String reason(Instant deadline) {
        return PASSED + deadline;
    }

    /** How a task ends to which the deadline was delivered. */
    static RuntimeException ends(EngineContext task, DeadlineExceededException delivered) {
        return task.deadline()
                .<RuntimeException>map(deadline -> new CancelledException(reason(deadline)))
                .orElse(delivered);
    }

    /** Whether an item of a map was ended by it. */
    static boolean ended(RunFailedException item) {
        return item.state() == RunState.CANCELLED
                && String.valueOf(item.getMessage()).contains(PASSED);
    }
}
