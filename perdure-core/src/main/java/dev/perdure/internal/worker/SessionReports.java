package dev.perdure.internal.worker;

import dev.perdure.error.StoreException;
import dev.perdure.internal.execution.host.PendingLines;
import dev.perdure.internal.time.StoreClock;
import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.report.EngineLog;
import dev.perdure.spi.report.Reports;
import dev.perdure.spi.report.Reports.Line;
import dev.perdure.spi.report.Reports.Report;
import dev.perdure.spi.report.Reports.Source;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/**
 * What the attempts of one {@link Session} report.
 *
 * <p>How it works: a report replaces the one before it in memory. The first report forks a thread, which writes the
 * reports of all attempts together, waits a second, and goes on as long as there are more. Then the thread ends, so a
 * worker whose steps report nothing has none. The end of an attempt cuts the second short. While the store is out of
 * reach, reports stay in memory, one for each attempt.
 *
 * <p>Log lines are written in the same way. An execution keeps no more of them in memory than the store keeps of a run;
 * if all executions together have too many, new lines are dropped until some are written.
 */
final class SessionReports {
    private static final Logger LOG = EngineLog.of("dev.perdure.store");
    /** In real time, as bodies run, also in tests. */
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private static final int MOST = 500;
    private static final int MOST_LINES = 2_000;
    private static final long MOST_PENDING_BYTES = 16L * 1024 * 1024;

    private final Reports reports;
    private final Clockwork clockwork;
    private final StoreClock clock;
    private final WorkerId worker;
    private final BooleanSupplier alive;
    private final Clockwork.Signal hurry;
    private final Map<Place, Report> unwritten = new ConcurrentHashMap<>();
    private final Queue<PendingLines> unwrittenLines = new ConcurrentLinkedQueue<>();
    private final AtomicLong pendingBytes = new AtomicLong();
    private final AtomicBoolean writing = new AtomicBoolean();

    private record Place(long run, int position) {
        static Place of(Report report) {
            return new Place(report.source().run().key(), report.source().position());
        }
    }

    SessionReports(Reports reports, Clockwork clockwork, StoreClock clock, WorkerId worker, BooleanSupplier alive) {
        this.reports = reports;
        this.clockwork = clockwork;
        this.clock = clock;
        this.worker = worker;
        this.alive = alive;
        this.hurry = clockwork.signal();
    }

    void add(Report report) {
        unwritten.merge(Place.of(report), report, SessionReports::newer);
        begin();
    }

    void log(PendingLines lines, Source source, Level level, String logger, String text) {
        boolean room = pendingBytes.get() < MOST_PENDING_BYTES;
        pendingBytes.addAndGet(lines.add(source, clock.now(), level, logger, text, room));
        queue(lines);
    }

    private void queue(PendingLines lines) {
        if (lines.queue()) {
            unwrittenLines.add(lines);
        }
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
        } while (!isEmpty() && alive.getAsBoolean() && writing.compareAndSet(false, true));
    }

    private boolean isEmpty() {
        return unwritten.isEmpty() && unwrittenLines.isEmpty();
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
        writeLines();
    }

    /** Log lines that the store does not take are dropped, because the memory is for those that come. */
    private void writeLines() {
        List<Line> batch = new ArrayList<>();
        for (PendingLines next = unwrittenLines.poll(); next != null; next = unwrittenLines.poll()) {
            batch.addAll(next.take());
            if (batch.size() >= MOST_LINES) {
                writeLines(batch);
                batch.clear();
            }
        }
        if (!batch.isEmpty()) {
            writeLines(batch);
        }
    }

    private void writeLines(List<Line> batch) {
        pendingBytes.addAndGet(-batch.stream().mapToLong(Line::size).sum());
        try {
            reports.log(worker, List.copyOf(batch));
        } catch (RuntimeException dropped) {
            LOG.debug("Could not write {} log lines of steps, and drops them.", batch.size(), dropped);
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
