package dev.perdure.queue;

import dev.perdure.internal.text.Names;
import dev.perdure.internal.text.Texts;
import dev.perdure.queue.Queue.Rate;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A limiter of steps: how many attempts at steps may begin in a period, or be at work at once, in all runs of all
 * workflows and processes together. Immutable. Declare it when you set up the engine, and name it in the options of
 * each step that it limits:
 *
 * <pre>{@code
 * static final Limiter STRIPE = Limiter.named("stripe").rate(100, Duration.ofSeconds(1));
 *
 * Perdure.on(store).register(new Orders()).limiters(STRIPE).start();
 * ctx.step("charge", () -> stripe.charge(order), limit(STRIPE));
 * }</pre>
 *
 * <p>A step takes a permit before each attempt and gives it back with the commit that records the attempt. Steps get
 * their permits in the order in which they asked. While a step waits, its run leaves memory as it does at a sleep.
 *
 * <p>The same value changes a limiter at run time: {@link Limiters#limit}.
 */
public final class Limiter {
    /** As a limit: no limit. An operator sets it to lift a limit that the code declares. */
    public static final int UNLIMITED = Queue.UNLIMITED;

    private static final int MAX_NAME = 100;
    private static final String CONCURRENCY = "concurrency";
    private static final String RATE = "rate";
    private static final String BURST = "burst";

    private final LimitSettings settings;

    private Limiter(LimitSettings settings) {
        this.settings = settings;
    }

    /** A limiter without limits. */
    public static Limiter named(String name) {
        return of(Names.require("limiter", name, MAX_NAME), Map.of());
    }

    /** For stores: a limiter with the settings that {@link #settings()} has given. */
    public static Limiter of(String name, Map<String, String> settings) {
        return new Limiter(new LimitSettings("limiter", name, settings));
    }

    /** At most this many attempts at once, in all processes together. */
    public Limiter concurrency(int most) {
        return new Limiter(settings.limit(CONCURRENCY, "concurrency", most));
    }

    /**
     * At most this many attempts begin in any period of this length, in all processes together, by the clock of the
     * store. The period slides: there is no edge at which two bursts meet.
     */
    public Limiter rate(int most, Duration period) {
        return new Limiter(settings.rate(RATE, "rate", most, period));
    }

    /**
     * At most this many of the attempts that {@link #rate} allows begin at once; the others are spread over the period.
     */
    public Limiter burst(int most) {
        return new Limiter(settings.limit(BURST, "burst", most));
    }

    /** This limiter with the settings of another, where that one has any. */
    public Limiter with(Limiter changes) {
        Texts.requireGiven("limiter with the changes", changes);
        return new Limiter(settings.with(changes.settings()));
    }

    /** Its name. */
    public String name() {
        return settings.name();
    }

    /** How many attempts at once, if that is limited. */
    public OptionalInt concurrency() {
        return settings.limit(CONCURRENCY);
    }

    /** How many attempts may begin in any period, if that is limited; without the burst. */
    public Optional<Rate> rate() {
        return settings.rate(RATE);
    }

    /** For stores: the rate and its burst as they are applied. */
    public Optional<Queue.Windows> rateWindows() {
        return settings.windows(RATE, BURST);
    }

    /** For stores and tools: all that was set, under names that never change. */
    public Map<String, String> settings() {
        return settings.values();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Limiter limiter && limiter.settings.equals(settings);
    }

    @Override
    public int hashCode() {
        return settings.hashCode();
    }

    @Override
    public String toString() {
        return "limiter '%s' %s".formatted(name(), settings());
    }
}
