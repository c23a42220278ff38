package dev.perdure.embedded;

import org.jspecify.annotations.Nullable;

/** The embedded PostgreSQL failed. The message says why, and what to do about it. */
public final class EmbeddedPostgresException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The kind of failure, for code that handles it. The message has the details. */
    public enum Reason {
        /**
         * PostgreSQL's binaries do not exist for this platform, are not on the class path, or do not run on this
         * machine.
         */
        NO_BINARIES,
        /** The JVM runs as root, and cannot run the server as another user. */
        ROOT,
        /** Another process listens on the port. */
        PORT_TAKEN,
        /** Another live JVM, or this one, uses the data folder. */
        FOLDER_IN_USE,
        /** The folder is not writable, or holds other files. */
        FOLDER_UNUSABLE,
        /** No space left on the device. */
        DISK_FULL,
        /** The data folder belongs to another major version of PostgreSQL. */
        OTHER_VERSION,
        /** The server did not start or stop in time. */
        TIMED_OUT,
        /** The server did not start for another reason. The message ends with the server's output. */
        START_FAILED,
        /** The server is stopped or closed, but the method needs a running one. */
        NOT_RUNNING,
        /** An SQL statement of this library failed. */
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
