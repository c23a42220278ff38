package dev.perdure.cli;

import dev.perdure.error.InvalidRequestException;

/** A run does not permit a command. The command line is right, so that the exit code is another one. */
final class CommandRefusedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    CommandRefusedException(InvalidRequestException refusal) {
        super(refusal.getMessage(), refusal);
    }
}
