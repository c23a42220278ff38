package dev.perdure.queue;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Names;
import dev.perdure.queue.Queue.Rate;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * A limiter of steps: how many attempts at steps may begin in a period, or be at work at once, in all runs of all
 * workflows and processes together. Immutable. Declare it when you set up the engine, and name it in the options of each
 * step that it limits:
 *
 * <pre>{@code
 * static final Limiter STRIPE = Limiter.named("stripe").rate(100, Duration.ofSeconds(1));
 *
 * Perdure.on(store).register(new Orders()).limiters(STRIPE).start();
 * ctx.step("charge", () -> stripe.charge(order), limit(STRIPE));
 * }</pre>
 *
 * <p>A step takes a permit before each attempt and gives it back with the commit that records the attempt. Steps get their
 * permits in the order in which they asked. While a step waits, its run leaves memory as it does at a sleep.
 *
 * <p>The same value changes a limiter at run time: {@link Limiters#limit}.
 */
public final class Limiter {
    /** As a limit: no limit. An operator sets it to lift a limit that the code declares. */
    public static final int UNLIMITED = Queue.UNLIMITED;

    private static final int MAX_NAME = 100;
    private static final String NONE = "none";
    private static final String CONCURRENCY = "concurrency";
    private static final String RATE = "rate";
    private static final String BURST = "burst";
    private static final Duration LONGEST_PERIOD = Duration.ofDays(366);

    private final String name;
    private final Map<String, String> settings;

    private Limiter(String name, Map<String, String> settings) {
        this.name = name;
        this.settings = settings;
    }

    /** A limiter without limits. */
    public static Limiter named(String name) {
        return new Limiter(Names.require("limiter", name, MAX_NAME), Map.of());
    }

    /** For stores: a limiter with the settings that {@link #settings()} has given. */
    public static Limiter of(String name, Map<String, String> settings) {
        return new Limiter(name, Collections.unmodifiableMap(new TreeMap<>(settings)));
    }

    /** At most this many attempts at once, in all processes together. */
    public Limiter concurrency(int most) {
        return with(CONCURRENCY, limit("concurrency", most));
    }

    /**
     * At most this many attempts begin in any period of this length, in all processes together, by the clock of the
     * store. The period slides: there is no edge at which two bursts meet.
     */
    public Limiter rate(int most, Duration period) {
        String limit = limit("rate", most);
        if (period.compareTo(Duration.ofMillis(1)) < 0 || period.compareTo(LONGEST_PERIOD) > 0) {
            throw new InvalidRequestException(
                    "The period of the rate of the limiter '%s' is %s; it is at least a millisecond and at most %d days."
                            .formatted(name, period, LONGEST_PERIOD.toDays()));
        }
        return with(RATE, limit.equals(NONE) ? NONE : limit + "/" + period);
    }

    /** At most this many of the attempts that {@link #rate} allows begin at once; the others are spread over the period. */
    public Limiter burst(int most) {
        return with(BURST, limit("burst", most));
    }

    private String limit(String method, int most) {
        if (most < 1) {
            throw new InvalidRequestException(
                    "%s of the limiter '%s' is %d; it is at least 1. To let no step begin, pause the limiter."
                            .formatted(method, name, most));
        }
        return most == UNLIMITED ? NONE : String.valueOf(most);
    }

    private Limiter with(String setting, String value) {
        Map<String, String> more = new TreeMap<>(settings);
        more.put(setting, value);
        return of(name, more);
    }

    /** This limiter with the settings of another, where that one has any. */
    public Limiter with(Limiter changes) {
        Map<String, String> both = new TreeMap<>(settings);
        both.putAll(changes.settings);
        return of(name, both);
    }

    /** Its name. */
    public String name() {
        return name;
    }

    /** How many attempts at once, if that is limited. */
    public OptionalInt concurrency() {
        String value = settings.getOrDefault(CONCURRENCY, NONE);
        return value.equals(NONE) ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(value));
    }

    /** How many attempts may begin in any period, if that is limited; without the burst. */
    public Optional<Rate> rate() {
        String value = settings.getOrDefault(RATE, NONE);
        if (value.equals(NONE)) {
            return Optional.empty();
        }
        int slash = value.indexOf('/');
        return Optional.of(
                new Rate(Integer.parseInt(value.substring(0, slash)), Duration.parse(value.substring(slash + 1))));
    }

    /** The rate as it is applied: with a burst, fewer in a shorter period. */
    public Optional<Rate> appliedRate() {
        String burst = settings.getOrDefault(BURST, NONE);
        return rate().map(rate -> rate.spread(burst.equals(NONE) ? UNLIMITED : Integer.parseInt(burst)));
    }

    /** For stores and tools: all that was set, under names that never change. */
    public Map<String, String> settings() {
        return settings;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Limiter limiter && limiter.name.equals(name) && limiter.settings.equals(settings);
    }

    @Override
    public int hashCode() {
        return name.hashCode() * 31 + settings.hashCode();
    }

    @Override
    public String toString() {
        return "limiter '%s' %s".formatted(name, settings);
    }
}
