package dev.perdure.embedded;

import dev.perdure.embedded.EmbeddedPostgresException.Reason;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Turns errors of the operating system and of PostgreSQL's programs into clear messages. */
final class StartFailure {
    private static final String NO_SPACE = "No space left on device";
    private static final List<String> NOT_WRITABLE =
            List.of("Permission denied", "Operation not permitted", "Read-only file system");

    private StartFailure() {}

    static EmbeddedPostgresException of(String attempt, IOException e) {
        var message = String.valueOf(e.getMessage());
        return message.contains(NO_SPACE)
                ? new EmbeddedPostgresException(
                        Reason.DISK_FULL, "Cannot " + attempt + ": the disk is full. Make room, then start again.", e)
                : new EmbeddedPostgresException(Reason.FOLDER_UNUSABLE, "Cannot " + attempt + ": " + describe(e), e);
    }

    /** The failure that explains the output of initdb and pg_ctl and the server's log. */
    static EmbeddedPostgresException of(Path folder, int port, String output) {
        if (output.contains(NO_SPACE)) {
            return failure(
                    Reason.DISK_FULL,
                    "The disk is full, so PostgreSQL cannot start in " + folder + ". Make room, then start again.",
                    output);
        }
        if (output.contains("Address already in use")) {
            return portTaken(port, output);
        }
        if (output.contains("did not start in time")) {
            return failure(
                    Reason.TIMED_OUT,
                    "PostgreSQL in " + folder + " did not start in time. Set a longer startTimeout(…).",
                    output);
        }
        if (NOT_WRITABLE.stream().anyMatch(output::contains)) {
            return failure(
                    Reason.FOLDER_UNUSABLE,
                    "PostgreSQL cannot access the folder " + folder + ". Choose one that its user can read and write.",
                    output);
        }
        return failure(Reason.START_FAILED, "PostgreSQL in " + folder + " did not start.", output);
    }

    static EmbeddedPostgresException portTaken(int port, String output) {
        return failure(
                Reason.PORT_TAKEN,
                "Port " + port + " on 127.0.0.1 is taken. Stop what listens there, or choose another port; "
                        + "without a port, the start finds a free one.",
                output);
    }

    private static EmbeddedPostgresException failure(Reason reason, String message, String output) {
        var said = output.strip();
        return new EmbeddedPostgresException(
                reason,
                said.isEmpty()
                        ? message
                        : message + " The output was:\n" + said.indent(2).stripTrailing());
    }

    private static String describe(IOException e) {
        var kind = e.getClass().getSimpleName().replace("Exception", "");
        return kind + (e.getMessage() == null ? "" : " (" + e.getMessage() + ")");
    }
}
