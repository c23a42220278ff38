package dev.perdure.http.internal.runs;

import dev.perdure.spi.statistics.Statistics;
import dev.perdure.spi.statistics.Statistics.Rates;
import dev.perdure.spi.statistics.Statistics.Second;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What happened to runs in the last minutes, second by second. However many requests there are, it asks the store at most
 * once a second, and then only for the seconds that are new. Thread-safe.
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
     * @param exactSince since when the store has found all ends
     * @param at when it has asked, by the monotonic clock
     */
    private record Known(Rates rates, Instant exactSince, long at) {}

    RateWindow(Statistics store, LongSupplier nanoTime) {
        this.store = store;
        this.nanoTime = nanoTime;
    }

    /** The last seconds, at most so many. */
    Rates last(int seconds) {
        Known all = known();
        Instant to = all.rates().to();
        Instant from = later(all.rates().from(), to.minusSeconds(seconds));
        return new Rates(from, to, since(all.rates().seconds(), from), from.isBefore(all.exactSince()));
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
        Known next;
        if (before == null || news.from().isAfter(before.rates().to())) { // what happened between them is not known
            next = new Known(news, news.more() ? news.to() : news.from(), at);
        } else {
            next = new Known(joined(before.rates(), news), news.more() ? news.to() : before.exactSince(), at);
        }
        known.set(next);
        return next;
    }

    private static Rates joined(Rates before, Rates news) {
        Instant from = later(before.from(), news.to().minusSeconds(LONGEST));
        List<Second> seconds = new ArrayList<>(since(before.seconds(), from));
        seconds.removeIf(second -> !second.begin().isBefore(news.from()));
        seconds.addAll(news.seconds());
        return new Rates(from, news.to(), seconds, news.more());
    }

    private static Instant later(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }

    private static List<Second> since(List<Second> seconds, Instant from) {
        return seconds.stream().filter(second -> !second.begin().isBefore(from)).toList();
    }
}
