package dev.perdure.http.internal.admin;

import dev.perdure.queue.QueueInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * What queues had to do in the last hour, as far as this process knows: it keeps some of the answers that it gives about
 * queues. While nobody looks at queues, nothing is known. Thread-safe.
 */
final class QueueWindow {
    private static final Duration LONGEST = Duration.ofHours(1);
    /** So far apart are the points that are kept, apart from the last one. */
    private static final Duration STEP = Duration.ofSeconds(15);

    private static final int MOST_QUEUES = 200;
    /** An answer about all queues has no more points, so that it stays below half a megabyte. */
    private static final int MOST_POINTS = 4_800;

    private final Supplier<Instant> clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, List<Point>> lines = new TreeMap<>();
    private Instant last = Instant.MIN;

    /**
     * A queue at some time.
     *
     * @param at when
     * @param waiting how many runs waited
     * @param begun how many had begun and had not ended
     */
    record Point(Instant at, long waiting, long begun) {}

    /** A queue over time, oldest first. */
    record Line(String queue, List<Point> points) {}

    QueueWindow(Supplier<Instant> clock) {
        this.clock = clock;
    }

    /** These are all queues now. */
    void saw(List<QueueInfo> queues) {
        Instant now = clock.get();
        lock.lock();
        try {
            last = now;
            queues.stream().filter(queue -> hasRoom(queue.name())).forEach(queue -> {
                List<Point> points = lines.computeIfAbsent(queue.name(), name -> new ArrayList<>());
                boolean tooClose = points.size() > 1
                        && points.get(points.size() - 2).at().plus(STEP).isAfter(now);
                if (tooClose) {
                    points.removeLast();
                }
                points.add(new Point(now, queue.load().waiting(), queue.load().begun()));
            });
            Instant oldest = now.minus(LONGEST);
            lines.values().forEach(points -> points.removeIf(point -> point.at().isBefore(oldest)));
            lines.values().removeIf(List::isEmpty);
        } finally {
            lock.unlock();
        }
    }

    private boolean hasRoom(String queue) {
        return lines.size() < MOST_QUEUES || lines.containsKey(queue);
    }

    /** Whether nobody has looked at the queues for so long that a point is missing. */
    boolean isOld() {
        lock.lock();
        try {
            return last.isBefore(clock.get().minus(STEP));
        } finally {
            lock.unlock();
        }
    }

    /** What is known of one queue; empty if nothing is. */
    List<Line> line(String queue) {
        lock.lock();
        try {
            List<Point> points = lines.get(queue);
            return points == null ? List.of() : List.of(new Line(queue, List.copyOf(points)));
        } finally {
            lock.unlock();
        }
    }

    /** What is known, by the names of the queues. If there are many, each has fewer points, further apart. */
    List<Line> lines() {
        lock.lock();
        try {
            int most = MOST_POINTS / Math.max(1, lines.size());
            Duration apart = LONGEST.dividedBy(Math.max(1, most - 1)); // with a point at each end
            return lines.entrySet().stream()
                    .map(line -> new Line(
                            line.getKey(),
                            line.getValue().size() <= most
                                    ? List.copyOf(line.getValue())
                                    : thinned(line.getValue(), apart)))
                    .toList();
        } finally {
            lock.unlock();
        }
    }

    /** The last point, and before it only points that are so far from the next one. */
    private static List<Point> thinned(List<Point> points, Duration apart) {
        List<Point> kept = new ArrayList<>();
        for (Point point : points.reversed()) {
            if (kept.isEmpty() || !kept.getLast().at().minus(apart).isBefore(point.at())) {
                kept.add(point);
            }
        }
        return kept.reversed();
    }
}
