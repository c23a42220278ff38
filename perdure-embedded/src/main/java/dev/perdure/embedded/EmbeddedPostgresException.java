package dev.perdure.embedded;

import org.jspecify.annotations.Nullable;

/** The embedded PostgreSQL could not do what was asked; the message says why, and what to do about it. */
public final class EmbeddedPostgresException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What went wrong, for those who decide by it; the message has the details. */
    public enum Reason {
        /** There are no PostgreSQL binaries for this platform, or not on the class path, or they do not run here. */
        NO_BINARIES,
        /** Running as root, and there is no way to give root's rights away. */
        ROOT,
        /** Somebody else listens on the port. */
        PORT_TAKEN,
        /** A living JVM uses the data folder. */
        FOLDER_IN_USE,
        /** The folder cannot be written, or holds something that is not ours. */
        FOLDER_UNUSABLE,
        /** No space left on the device. */
        DISK_FULL,
        /** The data folder was made by another major version of PostgreSQL. */
        OTHER_VERSION,
        /** The server did not start, or not stop, in time. */
        TIMED_OUT,
        /** The server refused to start for another reason; the message ends with its last words. */
        START_FAILED,
        /** The server is stopped or closed, and a running one was needed. */
        NOT_RUNNING,
        /** A statement of ours failed. */
        SQL
    }

    private final Reason reason;

    EmbeddedPostgresException(Reason reason, String message) {
        this(reason, message, null);
    }

    EmbeddedPostgresException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    /** {@return what went wrong} */
    public Reason reason() {
        return reason;
    }
}
