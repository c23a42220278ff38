package dev.perdure.error;

import org.jspecify.annotations.Nullable;

/**
 * The root of everything Perdure throws. The message says what happened, to which run, and what to do about it.
 *
 * <p>Trouble with the database is never delivered into a workflow: runs wait for it.
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
                PayloadException,
                RejectedException,
                ResultUnavailableException,
                RunActiveException,
                RunConflictException,
                RunEndedException,
                RunFailedException,
                StepFailedException,
                StoreException,
                TasksFailedException,
                TerminalException,
                TimedOutException,
                UnknownRunException,
                UnknownTokenException {
    private static final long serialVersionUID = 1L;

    PerdureException(@Nullable String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
