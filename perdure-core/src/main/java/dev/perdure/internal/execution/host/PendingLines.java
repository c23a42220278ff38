package dev.perdure.internal.execution.host;

import dev.perdure.spi.report.Reports;
import dev.perdure.spi.report.Reports.Line;
import dev.perdure.spi.report.Reports.Source;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.event.Level;

/**
 * The log lines of one execution that are not written yet, no more than the store keeps of a run. Numbers count all
 * lines, also those that were dropped here, so that the store knows how many there were.
 */
public final class PendingLines {
    private final ReentrantLock lock = new ReentrantLock();
    private Deque<Line> lines = new ArrayDeque<>();

    private long count;
    private long bytes;
    private boolean queued;

    /**
     * Adds a line in the place of the oldest ones, if there are too many.
     *
     * @param keeps false to count the line only
     * @return by how many bytes the lines have grown
     */
    public long add(Source source, Instant at, Level level, String logger, String text, boolean keeps) {
        lock.lock();
        try {
            long before = bytes;
            count++;
            if (keeps) {
                Line line = new Line(source, Reports.version(source.epoch(), count), at, level, logger, text);
                lines.add(line);
                bytes += line.size();
            }
            while (lines.size() > Reports.MOST_LINES || bytes > Reports.MOST_BYTES) {
                bytes -= lines.removeFirst().size();
            }
            return bytes - before;
        } finally {
            lock.unlock();
        }
    }

    /** Whether the caller has to queue it for writing: it is not queued yet. */
    public boolean queue() {
        lock.lock();
        try {
            boolean first = !queued;
            queued = true;
            return first;
        } finally {
            lock.unlock();
        }
    }

    /** Takes all lines, oldest first. It is no longer queued. */
    public List<Line> take() {
        lock.lock();
        try {
            queued = false;
            List<Line> all = List.copyOf(lines);
            lines = new ArrayDeque<>();
            bytes = 0;
            return all;
        } finally {
            lock.unlock();
        }
    }
}
