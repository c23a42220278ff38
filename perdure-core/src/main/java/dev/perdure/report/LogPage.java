package dev.perdure.report;

import java.util.List;

/**
 * Some of the log lines of a run.
 *
 * @param lines the lines, oldest first
 * @param dropped how many lines of the run are not kept, because newer ones took their place
 */
public record LogPage(List<LogLine> lines, long dropped) {
    /** Copies the list. */
    public LogPage {
        lines = List.copyOf(lines);
    }
}
