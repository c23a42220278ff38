package dev.perdure.error;

import org.jspecify.annotations.Nullable;

/**
 * The root of all exceptions that Perdure throws. The message says what happened, to which run, and what to do about
 * it.
 *
 * <p>Database failures never reach a workflow: its run waits until the database is back.
 */
public abstract sealed class PerdureException extends RuntimeException
        permits AlreadyResolvedException,
                CancelledException,
                ClosedException,
                CompensationFailedException,
                ContextMisuseException,
                DeadlineExceededException,
                DefinitionException,
                InvalidRequestException,
                KeyFullException,
                PayloadException,
                RejectedException,
                ResultUnavailableException,
                RetryRefusedException,
                RunActiveException,
                RunConflictException,
                RunEndedException,
                RunFailedException,
                StepFailedException,
                StoreException,
                TasksFailedException,
                TerminalException,
                TimedOutException,
                UnknownLimiterException,
                UnknownQueueException,
                UnknownReactionException,
                UnknownRunException,
                UnknownScheduleException,
                UnknownTokenException,
                UnknownVersionException {
    private static final long serialVersionUID = 1L;

    PerdureException(@Nullable String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
