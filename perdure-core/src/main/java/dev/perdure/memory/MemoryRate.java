package dev.perdure.memory;

import dev.perdure.queue.Queue;
import dev.perdure.queue.Queue.Windows;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** What has begun lately of a queue, a key or a limiter, and how much of that the two windows of its rate count. */
final class MemoryRate {
    /** How long a heavy run fills windows at most. */
    private static final Duration LONGEST = Duration.ofSeconds(3_155_760_000L);

    private final List<Charge> charges = new ArrayList<>();

    /** @param heavy whether it was more than one window has, so that the rest counts in the windows that follow */
    private record Charge(Instant at, int units, boolean heavy) {
        /** Until when it fills windows. What is left counts for one more period. */
        Instant fillsUntil(Queue.Rate window) {
            Duration full = window.period().multipliedBy(units / window.most());
            return at.plus(full.compareTo(LONGEST) < 0 ? full : LONGEST);
        }

        Stream<Leaving> leaving(Queue.Rate window) {
            if (!heavy) {
                return Stream.of(new Leaving(units, at.plus(window.period())));
            }
            Instant full = fillsUntil(window);
            int rest = units % window.most();
            return Stream.of(new Leaving(units - rest, full), new Leaving(rest, full.plus(window.period())));
        }
    }

    /** Units that leave a window at once. */
    private record Leaving(int units, Instant at) {}

    /** How many units the windows have left. */
    static final class Room {
        private final Windows windows;
        private long rate;
        private long burst;

        private Room(Windows windows, long rate, long burst) {
            this.windows = windows;
            this.rate = rate;
            this.burst = burst;
        }

        /** Whether a run fits, which takes its units. A run that is heavier than a window needs an empty one. */
        boolean takes(int units) {
            rate -= Math.min(units, windows.rate().most());
            burst -= Math.min(units, windows.burst().most());
            return left() >= 0;
        }

        long left() {
            return Math.min(rate, burst);
        }
    }

    Room room(Windows windows, Instant now) {
        return new Room(windows, left(windows.rate(), now), left(windows.burst(), now));
    }

    private long left(Queue.Rate window, Instant now) {
        return window.most() - leaving(window, now).mapToLong(Leaving::units).sum();
    }

    private Stream<Leaving> leaving(Queue.Rate window, Instant now) {
        return charges.stream().flatMap(charge -> charge.leaving(window)).filter(leaving -> leaving.at.isAfter(now));
    }

    void charge(Windows windows, int units, Instant now) {
        charges.add(new Charge(now, units, units > windows.burst().most()));
    }

    /** Forgets what no window counts any more; says whether nothing is left. */
    boolean forget(Windows windows, Instant now) {
        charges.removeIf(charge -> of(windows).flatMap(charge::leaving).noneMatch(leaving -> leaving.at.isAfter(now)));
        return charges.isEmpty();
    }

    /** When units leave a window. */
    Stream<Instant> freeTimes(Windows windows, Instant now) {
        return of(windows).flatMap(window -> leaving(window, now)).map(Leaving::at);
    }

    /** When one more unit fits in both windows, if none does now. */
    Optional<Instant> freeAt(Windows windows, Instant now) {
        return of(windows).flatMap(window -> freeAt(window, now).stream()).max(Comparator.naturalOrder());
    }

    private Optional<Instant> freeAt(Queue.Rate window, Instant now) {
        long left = left(window, now);
        if (left > 0) {
            return Optional.empty();
        }
        for (Leaving leaving :
                (Iterable<Leaving>) leaving(window, now).sorted(Comparator.comparing(Leaving::at))::iterator) {
            left += leaving.units;
            if (left > 0) {
                return Optional.of(leaving.at);
            }
        }
        return Optional.empty();
    }

    private static Stream<Queue.Rate> of(Windows windows) {
        return Stream.of(windows.rate(), windows.burst());
    }
}
