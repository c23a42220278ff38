package dev.perdure.spi.report;

import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what attempts at steps report: their progress and their heartbeats. The store has the latest report of each
 * position, for the present life of its run, until the run is removed.
 *
 * <p>A report is accepted from a worker that is alive, if the run has the epoch under which that worker holds it, or
 * held it last. So a worker that lost its lease writes nothing, and the last report of an attempt is accepted although
 * its run has just ended.
 */
public interface Reports {
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
}
