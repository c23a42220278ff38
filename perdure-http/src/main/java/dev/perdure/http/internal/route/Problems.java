package dev.perdure.http.internal.route;

import dev.perdure.error.AlreadyResolvedException;
import dev.perdure.error.CancelledException;
import dev.perdure.error.ClosedException;
import dev.perdure.error.CompensationFailedException;
import dev.perdure.error.ContextMisuseException;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.DefinitionException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.KeyFullException;
import dev.perdure.error.PayloadException;
import dev.perdure.error.PerdureException;
import dev.perdure.error.RejectedException;
import dev.perdure.error.ResultUnavailableException;
import dev.perdure.error.RetryRefusedException;
import dev.perdure.error.RunActiveException;
import dev.perdure.error.RunConflictException;
import dev.perdure.error.RunEndedException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.StepFailedException;
import dev.perdure.error.StoreException;
import dev.perdure.error.TasksFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.error.TimedOutException;
import dev.perdure.error.UnknownLimiterException;
import dev.perdure.error.UnknownQueueException;
import dev.perdure.error.UnknownReactionException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.error.UnknownScheduleException;
import dev.perdure.error.UnknownTokenException;
import dev.perdure.error.UnknownVersionException;
import java.util.function.UnaryOperator;

/** Which status the exceptions of the library have. */
public final class Problems {
    private Problems() {}

    /**
     * The exception as a problem, under its own name. Its message says what to do.
     *
     * @param redaction what to show of a message that may have a value of a run in it
     */
    public static Problem of(PerdureException thrown, UnaryOperator<String> redaction) {
        String message = String.valueOf(thrown.getMessage());
        String detail = switch (thrown) {
            case StoreException unreachable ->
                "The database does not answer. Send the request again later. The log of the process says more.";
            case PayloadException unreadable -> redaction.apply(message);
            case RunFailedException failed -> redaction.apply(message);
            default -> message;
        };
        return new Problem(status(thrown), thrown.getClass().getSimpleName(), detail);
    }

    private static int status(PerdureException thrown) {
        return switch (thrown) {
            case InvalidRequestException invalid -> 400;
            case PayloadException invalid -> 400;
            case DefinitionException invalid -> 400;
            case UnknownRunException unknown -> 404;
            case UnknownTokenException unknown -> 404;
            case UnknownQueueException unknown -> 404;
            case UnknownLimiterException unknown -> 404;
            case UnknownScheduleException unknown -> 404;
            case UnknownVersionException unknown -> 404;
            case UnknownReactionException unknown -> 404;
            case RunConflictException conflict -> 409;
            case RunEndedException conflict -> 409;
            case RunActiveException conflict -> 409;
            case RunFailedException conflict -> 409;
            case RetryRefusedException conflict -> 409;
            case AlreadyResolvedException conflict -> 409;
            case KeyFullException full -> 429;
            case StoreException store -> store.kind() == StoreException.Kind.UNUSABLE ? 500 : 503;
            case ClosedException closed -> 503;
            case ResultUnavailableException late -> 504;
            // What only the code of a workflow gets.
            case CancelledException ofWorkflow -> 500;
            case CompensationFailedException ofWorkflow -> 500;
            case ContextMisuseException ofWorkflow -> 500;
            case DeadlineExceededException ofWorkflow -> 500;
            case RejectedException ofWorkflow -> 500;
            case StepFailedException ofWorkflow -> 500;
            case TasksFailedException ofWorkflow -> 500;
            case TerminalException ofWorkflow -> 500;
            case TimedOutException ofWorkflow -> 500;
        };
    }
}
