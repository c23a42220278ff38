package dev.perdure.http.internal.runs;

import dev.perdure.spi.statistics.Statistics;
import dev.perdure.spi.statistics.Statistics.Rates;
import dev.perdure.spi.statistics.Statistics.Second;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What happened to runs in the last minutes, second by second. However many requests there are, it asks the store at most
 * once a second, and then only for the seconds that are new. Of a store in which more runs start between two questions
 * than it looks at, some seconds stay unknown. Thread-safe.
 */
final class RateWindow {
    /** How many seconds it knows at most. */
    static final int LONGEST = 600;

    private static final long FRESH = Duration.ofSeconds(1).toNanos();
    /** So many seconds are read again: a transaction is seen some time after the time that it has written. */
    private static final int AGAIN = 3;

    private static final int MOST_RUNS = 10_000;

    private final Statistics store;
    private final LongSupplier nanoTime;
    private final AtomicReference<@Nullable Known> known = new AtomicReference<>();
    private final AtomicBoolean asking = new AtomicBoolean();

    /**
     * What it knows.
     *
     * @param rates the last minutes
     * @param gaps the times in them of which the store has told nothing, oldest first
     * @param exactSince since when the store has found all ends
     * @param at when it has asked, by the monotonic clock
     */
    private record Known(Rates rates, List<Gap> gaps, Instant exactSince, long at) {}

    private record Gap(Instant from, Instant to) {}

    /**
     * The last seconds.
     *
     * @param from when the first second begins
     * @param to when the last one ends
     * @param seconds all seconds that are known, also those in which nothing happened, oldest first
     * @param more whether more runs may have ended, which the store has not found
     */
    record Window(Instant from, Instant to, List<Second> seconds, boolean more) {}

    RateWindow(Statistics store, LongSupplier nanoTime) {
        this.store = store;
        this.nanoTime = nanoTime;
    }

    /** The last seconds, at most so many. */
    Window last(int seconds) {
        Known all = known();
        Instant to = all.rates().to();
        Instant from = later(all.rates().from(), to.minusSeconds(seconds));
        Map<Instant, Second> happened =
                all.rates().seconds().stream().collect(Collectors.toMap(Second::begin, second -> second));
        List<Second> each = new ArrayList<>();
        for (Instant at = from; at.isBefore(to); at = at.plusSeconds(1)) {
            if (!isIn(all.gaps(), at)) {
                each.add(happened.getOrDefault(at, new Second(at, 0, 0, 0)));
            }
        }
        return new Window(from, to, each, from.isBefore(all.exactSince()));
    }

    private static boolean isIn(List<Gap> gaps, Instant at) {
        return gaps.stream().anyMatch(gap -> !at.isBefore(gap.from()) && at.isBefore(gap.to()));
    }

    private Known known() {
        Known before = known.get();
        if (before == null) {
            return ask(null);
        }
        boolean fresh = nanoTime.getAsLong() - before.at() < FRESH;
        if (fresh || !asking.compareAndSet(false, true)) { // another request asks
            return before;
        }
        try {
            return ask(before);
        } finally {
            asking.set(false);
        }
    }

    private Known ask(@Nullable Known before) {
        long at = nanoTime.getAsLong();
        long passed =
                before == null ? LONGEST : Duration.ofNanos(at - before.at()).toSeconds() + 1 + AGAIN;
        Rates news = store.rates(Math.toIntExact(Math.min(passed, LONGEST)), MOST_RUNS);
        Known next = before == null || before.rates().to().isBefore(oldest(news))
                ? new Known(news, List.of(), news.more() ? news.to() : news.from(), at)
                : new Known(
                        joined(before.rates(), news),
                        gaps(before, news),
                        news.more() ? news.to() : before.exactSince(),
                        at);
        known.set(next);
        return next;
    }

    /** When the window begins at the earliest. */
    private static Instant oldest(Rates news) {
        return news.to().minusSeconds(LONGEST);
    }

    private static Rates joined(Rates before, Rates news) {
        Instant from = later(before.from(), oldest(news));
        List<Second> seconds = new ArrayList<>(since(before.seconds(), from));
        seconds.removeIf(second -> !second.begin().isBefore(news.from()));
        seconds.addAll(news.seconds());
        return new Rates(from, news.to(), seconds, news.more());
    }

    /** What was not known and is not known now either: the store may tell of some seconds later. */
    private static List<Gap> gaps(Known before, Rates news) {
        List<Gap> gaps = new ArrayList<>(before.gaps());
        gaps.add(new Gap(before.rates().to(), news.from()));
        return gaps.stream()
                .map(gap -> new Gap(gap.from(), earlier(gap.to(), news.from())))
                .filter(gap -> gap.from().isBefore(gap.to()) && gap.to().isAfter(oldest(news)))
                .toList();
    }

    private static Instant earlier(Instant one, Instant other) {
        return one.isBefore(other) ? one : other;
    }

    private static Instant later(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }

    private static List<Second> since(List<Second> seconds, Instant from) {
        return seconds.stream().filter(second -> !second.begin().isBefore(from)).toList();
    }
}
