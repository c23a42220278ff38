package dev.perdure.spi.report;

import dev.perdure.report.LogFilter;
import dev.perdure.report.LogPage;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * Keeps what attempts at steps report: their progress, their heartbeats and their log lines. The store has the latest
 * report of each position, for the present life of its run, and the newest log lines of a run of all its lives, until
 * the run is removed.
 *
 * <p>A report or line is accepted from a worker that is alive, if the run has the epoch under which that worker holds it, or
 * held it last. So a worker that lost its lease writes nothing, and the last report of an attempt is accepted although
 * its run has just ended.
 */
public interface Reports {
    /** How many log lines of a run are kept. */
    int MOST_LINES = 1_000;

    /** How many bytes the kept log lines of a run have in all. */
    int MOST_BYTES = 256 * 1024;

    /**
     * Who reports.
     *
     * @param run the run
     * @param epoch the epoch under which the worker holds the run
     * @param position the position of the step
     * @param step the name of the step
     * @param attempt the number of the attempt, from 1
     */
    record Source(RunRef run, long epoch, int position, String step, int attempt) {}

    /**
     * A value that the next attempt can read.
     *
     * @param version the version of the report that brought it
     * @param value the value
     */
    record Heartbeat(long version, Payload value) {}

    /**
     * What an attempt reports.
     *
     * @param source who reports
     * @param version grows with each report of a position, see {@link #version}
     * @param fraction the part of the work that is done, from 0 to 1; null if the attempt has not said it
     * @param message what the attempt says about its progress; may be empty
     * @param heartbeat the latest heartbeat with a value; null if there is none
     */
    record Report(
            Source source,
            long version,
            @Nullable Double fraction,
            String message,
            @Nullable Heartbeat heartbeat) {}

    /**
     * A report as the store has it.
     *
     * @param report the report, with the latest heartbeat of all attempts
     * @param at when it was written, by the store's clock
     */
    record Reported(Report report, Instant at) {}

    /**
     * A log line.
     *
     * @param source who logs
     * @param number grows with each line of a run, see {@link #version}; it also counts lines that were dropped before
     *     they reached the store
     * @param at when it was logged
     * @param level its level
     * @param logger the name of its logger
     * @param text the message
     */
    record Line(Source source, long number, Instant at, Level level, String logger, String text) {
        /** How many bytes it counts for {@link #MOST_BYTES}. */
        public int size() {
            return (logger + text).getBytes(StandardCharsets.UTF_8).length;
        }
    }

    /**
     * The version of a report: later epochs have higher versions than earlier ones.
     *
     * @param number grows with each report of the run under this epoch, from 1
     */
    static long version(long epoch, long number) {
        return (epoch << Integer.SIZE) + number;
    }

    /**
     * Writes reports. Leaves out those that are not accepted, and those that are older than what the store has, so it
     * is harmless to send a report again.
     *
     * @param reports at most one for each position of a run
     */
    void write(WorkerId worker, List<Report> reports);

    /** The latest report of a position in the present life of its run. */
    Optional<Reported> find(RunRef run, int position);

    /**
     * The latest reports of the steps of a run that have no answer, by position; none if the run has completed, because
     * its last step may have no answer of its own.
     */
    List<Reported> open(RunRef run);

    /**
     * Writes log lines. Accepts also those of a worker that is alive and held the run earlier, because a run often moves
     * on before its lines are written. Leaves out those whose number is not higher than that of the last line of their
     * run, so it is harmless to send lines again. Drops the oldest lines of a run of which there are
     * too many.
     *
     * @param lines those of one run in the order of their numbers
     */
    void log(WorkerId worker, List<Line> lines);

    /** Log lines of a run, and how many were dropped. */
    LogPage log(RunRef run, LogFilter filter);
}
