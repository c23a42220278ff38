package dev.perdure;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Texts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A run as it was exported: its definition, its input and its journal with all values. {@link Run#export()} and
 * {@code ./perdure runs export} make it. The test kit replays it on other code. It contains what the run worked on, so
 * keep it as you keep that data. Immutable.
 *
 * @param json the run as JSON in one line; {@code docs/operate/replay.md} describes the format
 */
public record History(String json) {
    /** Requires a text. */
    public History {
        if (json == null || json.isBlank()) {
            throw new InvalidRequestException(
                    "The history is empty. Give one line that './perdure runs export' has written.");
        }
    }

    /**
     * Reads the histories of a file, one in each line.
     *
     * @throws InvalidRequestException if the file has none
     */
    public static List<History> read(Path file) {
        Texts.requireGiven("file of histories", file);
        try {
            List<History> histories = Files.readAllLines(file).stream()
                    .filter(line -> !line.isBlank())
                    .map(History::new)
                    .toList();
            if (histories.isEmpty()) {
                throw new InvalidRequestException(
                        "The file %s has no histories. Write them with './perdure runs export'.".formatted(file));
            }
            return histories;
        } catch (IOException unreadable) {
            throw new UncheckedIOException("The file %s cannot be read as text.".formatted(file), unreadable);
        }
    }

    /** Its size only, because the text has the values of the run. */
    @Override
    public String toString() {
        return "History[%s characters]".formatted(json.length());
    }
}
