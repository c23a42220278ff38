package dev.perdure.internal.worker;

import dev.perdure.error.StoreException;
import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.report.Reports;
import dev.perdure.spi.report.Reports.Report;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the attempts of one {@link Session} report.
 *
 * <p>How it works: a report replaces the one before it in memory. The first report forks a thread, which writes the
 * reports of all attempts together, waits a second, and goes on as long as there are more. Then the thread ends, so a
 * worker whose steps report nothing has none. The end of an attempt cuts the second short. While the store is out of
 * reach, reports stay in memory, one for each attempt.
 */
final class SessionReports {
    private static final Logger LOG = LoggerFactory.getLogger("dev.perdure.store");
    /** In real time, as bodies run, also in tests. */
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private static final int MOST = 500;

    private final Reports reports;
    private final Clockwork clockwork;
    private final WorkerId worker;
    private final BooleanSupplier alive;
    private final Clockwork.Signal hurry;
    private final Map<Place, Report> unwritten = new ConcurrentHashMap<>();
    private final AtomicBoolean writing = new AtomicBoolean();

    private record Place(long run, int position) {
        static Place of(Report report) {
            return new Place(report.source().run().key(), report.source().position());
        }
    }

    SessionReports(Reports reports, Clockwork clockwork, WorkerId worker, BooleanSupplier alive) {
        this.reports = reports;
        this.clockwork = clockwork;
        this.worker = worker;
        this.alive = alive;
        this.hurry = clockwork.signal();
    }

    void add(Report report) {
        unwritten.merge(Place.of(report), report, SessionReports::newer);
        begin();
    }

    private static Report newer(Report one, Report other) {
        return one.version() > other.version() ? one : other;
    }

    private void begin() {
        if (writing.compareAndSet(false, true)) {
            clockwork.fork("perdure-reports", this::writeAll);
        }
    }

    /** Writes the next reports at once. */
    void hurry() {
        hurry.raise();
    }

    private void writeAll() {
        do {
            try {
                write();
                Runnable alarmOff = clockwork.alarm(PAUSE, hurry::raise);
                Waiting.forSignal(hurry);
                alarmOff.run();
            } finally {
                writing.set(false);
            }
        } while (!unwritten.isEmpty() && alive.getAsBoolean() && writing.compareAndSet(false, true));
    }

    /** Writes what there is now. What the store did not take because it is out of reach is tried again. */
    void write() {
        List<Report> batch = new ArrayList<>();
        for (Place place : List.copyOf(unwritten.keySet())) {
            Report report = unwritten.remove(place);
            if (report != null) {
                batch.add(report);
            }
        }
        for (int from = 0; from < batch.size(); from += MOST) {
            write(batch.subList(from, Math.min(from + MOST, batch.size())));
        }
    }

    /** Writes these reports, or later if the store is out of reach. */
    void write(List<Report> batch) {
        try {
            reports.write(worker, batch);
        } catch (StoreException outOfReach) {
            LOG.debug("Could not write the reports of {} attempts; tries again.", batch.size(), outOfReach);
            batch.forEach(this::add);
        } catch (RuntimeException broken) {
            LOG.warn("Could not write the reports of {} attempts, and drops them.", batch.size(), broken);
        }
    }
}
