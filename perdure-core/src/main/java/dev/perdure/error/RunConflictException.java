package dev.perdure.error;

import dev.perdure.RunId;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A run with this id already exists, with a different definition or input; or another run has the start's key, and the
 * start is to be refused or has a different input.
 */
public final class RunConflictException extends PerdureException {
    private static final long serialVersionUID = 1L;

    private final @Nullable RunId existing;

    /** For the engine. */
    public RunConflictException(String message) {
        super(message, null);
        this.existing = null;
    }

    /** For the engine. */
    public RunConflictException(String message, RunId existing) {
        super(message, null);
        this.existing = existing;
    }

    /** The run that is there. Empty for a child whose id is taken. */
    public Optional<RunId> existing() {
        return Optional.ofNullable(existing);
    }
}
