package dev.perdure.queue;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Names;
import dev.perdure.internal.text.Reserved;
import dev.perdure.internal.text.Texts;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * A queue and its limits. Immutable. Declare it when you set up the engine. The store keeps the declaration, so the
 * limits hold across all processes:
 *
 * <pre>{@code
 * Perdure.on(store).register(new Imports()).queues(Queue.named("imports").concurrency(20).perKey(2)).start();
 * perdure.start(Imports::load, file, id(file.name()).queue("imports").key(file.customer()));
 * }</pre>
 *
 * <p>The same value changes a queue at run time: {@link Queues#limit}.
 */
public final class Queue {
    /** As a limit: no limit. An operator sets it to lift a limit that the code declares. */
    public static final int UNLIMITED = Integer.MAX_VALUE;

    private static final int MAX_NAME = 100;
    private static final String CONCURRENCY = "concurrency";
    private static final String PER_WORKER = "per_worker";
    private static final String PER_KEY = "per_key";
    private static final String COUNTING = "counting";
    private static final String RATE = "rate";
    private static final String BURST = "burst";
    private static final String RATE_PER_KEY = "rate_per_key";
    private static final String BURST_PER_KEY = "burst_per_key";
    private static final String WHEN_KEY_FULL = "when_key_full";
    private static final String AGEING = "ageing";
    private static final String TURNS = "turns:";
    private static final int MOST_TURNS = 1_000;
    private static final int MAX_KEY = 200;

    private final LimitSettings settings;

    /** Which runs {@link Queue#concurrency} and {@link Queue#perKey} count. */
    public enum Counting {
        /** Runs that have begun and have not ended. A run that sleeps or waits keeps its place. The default. */
        BEGUN,
        /**
         * Runs that a worker holds in memory. A run that sleeps or waits for longer than the warm window gives its
         * place back, and takes one again when it wakes.
         */
        AT_WORK
    }

    /**
     * What happens to a start whose key is full: as many runs of the key hold a place, or wait for one, as
     * {@link Queue#perKey} allows. The store decides this in the transaction that starts the run. Only starts of
     * workflows by callers are decided so: children, DAGs, calls of virtual objects and delayed starts always wait.
     */
    public enum WhenKeyFull {
        /** The run is started, and waits for a place. The default. */
        WAIT,
        /**
         * The start throws {@link dev.perdure.error.KeyFullException} and nothing is started. Through the outbox and
         * from SQL no caller could get the exception: there the run is started, and ends as cancelled at once, with the
         * reason.
         */
        REFUSE,
        /**
         * The oldest runs of the key are cancelled, so many that the new run has a place. It begins when they have
         * ended: a run that is cancelled keeps its place until then.
         */
        CANCEL_OLDEST,
        /** The run is started, and ends as cancelled at once, with the reason. */
        DROP_NEWEST
    }

    private Queue(LimitSettings settings) {
        this.settings = settings;
    }

    /** A queue without limits. Names that begin with {@code perdure.} are reserved. */
    public static Queue named(String name) {
        Names.require("queue", name, MAX_NAME);
        Reserved.requireFreeQueue(name);
        return of(name, Map.of());
    }

    /** For stores: a queue with the settings that {@link #settings()} returned. */
    public static Queue of(String name, Map<String, String> settings) {
        return new Queue(new LimitSettings("queue", name, settings));
    }

    /** At most this many runs of the queue at once, in all processes together. */
    public Queue concurrency(int most) {
        return new Queue(settings.limit(CONCURRENCY, "concurrency", most));
    }

    /** At most this many runs of the queue in the memory of one worker. */
    public Queue perWorker(int most) {
        return new Queue(settings.limit(PER_WORKER, "perWorker", most));
    }

    /**
     * At most this many runs with the same key at once, in all processes together. Runs without a key are not counted.
     */
    public Queue perKey(int most) {
        return new Queue(settings.limit(PER_KEY, "perKey", most));
    }

    /** What happens to a start whose key is full. Without {@link #perKey} it has no effect. */
    public Queue whenKeyFull(WhenKeyFull policy) {
        Texts.requireGiven("policy for full keys", policy);
        return with(WHEN_KEY_FULL, policy.name());
    }

    /**
     * Gives a key more turns, where keys take turns: this many for each turn of a key without a setting. With 3 beside
     * one other key, it gets three of four turns. With 1 the key has turns like the others.
     *
     * @param key the key, such as a customer that pays
     * @param turns how many turns, at most 1,000
     */
    public Queue turns(String key, int turns) {
        Names.require("key", key, MAX_KEY);
        if (turns < 1 || turns > MOST_TURNS) {
            throw new InvalidRequestException("The turns of the key '%s' of the queue '%s' are %s; they are 1 to %s."
                    .formatted(key, name(), turns, MOST_TURNS));
        }
        return with(TURNS + key, String.valueOf(turns));
    }

    /**
     * Raises the priority of a waiting run by one with each period that it has waited, so that runs of low priority do
     * not wait for ever. The period counts from when the run became ready. {@link Duration#ZERO} turns it off, which is
     * the default.
     */
    public Queue ageing(Duration period) {
        Texts.requireGiven("period of the ageing", period);
        if (period.isZero()) {
            return with(AGEING, LimitSettings.NONE);
        }
        settings.requirePeriod("ageing", period);
        return with(AGEING, period.toString());
    }

    /** Which runs the limits count. */
    public Queue counting(Counting counted) {
        Texts.requireGiven("counting", counted);
        return with(COUNTING, counted.name());
    }

    /**
     * At most this many runs begin in any period of this length, in all processes together, by the clock of the store.
     * A run counts when it first begins, with the weight that its start options give it; when it continues after a
     * sleep or a crash, it does not count again.
     */
    public Queue rate(int most, Duration period) {
        return new Queue(settings.rate(RATE, "rate", most, period));
    }

    /** At most this many of the runs that {@link #rate} allows begin at once; the others are spread over the period. */
    public Queue burst(int most) {
        return new Queue(settings.limit(BURST, "burst", most));
    }

    /** The same as {@link #rate} for each key. Runs without a key are not counted. */
    public Queue ratePerKey(int most, Duration period) {
        return new Queue(settings.rate(RATE_PER_KEY, "ratePerKey", most, period));
    }

    /** The same as {@link #burst} for each key. */
    public Queue burstPerKey(int most) {
        return new Queue(settings.limit(BURST_PER_KEY, "burstPerKey", most));
    }

    private Queue with(String setting, String value) {
        return new Queue(settings.with(setting, value));
    }

    /** This queue with the settings of another, where that one has any. */
    public Queue with(Queue changes) {
        Texts.requireGiven("queue with the changes", changes);
        return new Queue(settings.with(changes.settings()));
    }

    /** Its name. */
    public String name() {
        return settings.name();
    }

    /** How many runs at once in all processes, if that is limited. */
    public OptionalInt concurrency() {
        return settings.limit(CONCURRENCY);
    }

    /** How many runs at once in one worker, if that is limited. */
    public OptionalInt perWorker() {
        return settings.limit(PER_WORKER);
    }

    /** How many runs of one key at once, if that is limited. */
    public OptionalInt perKey() {
        return settings.limit(PER_KEY);
    }

    /** Which runs the limits count. */
    public Counting counting() {
        return settings.text(COUNTING).map(Counting::valueOf).orElse(Counting.BEGUN);
    }

    /** How many turns the key gets for each turn of the others. */
    public int turns(String key) {
        return settings.limit(TURNS + key).orElse(1);
    }

    /** The period with which the priority of waiting runs rises, if it does. */
    public Optional<Duration> ageing() {
        return settings.text(AGEING).map(Duration::parse);
    }

    /** What happens to a start whose key is full. */
    public WhenKeyFull whenKeyFull() {
        return settings.text(WHEN_KEY_FULL).map(WhenKeyFull::valueOf).orElse(WhenKeyFull.WAIT);
    }

    /**
     * For stores: whether a start under a key of the queue may be decided otherwise than to wait. A policy that this
     * version does not know decides nothing.
     */
    public boolean decidesStarts() {
        return perKey().isPresent()
                && Arrays.stream(WhenKeyFull.values())
                        .filter(policy -> policy != WhenKeyFull.WAIT)
                        .anyMatch(
                                policy -> policy.name().equals(settings.values().get(WHEN_KEY_FULL)));
    }

    /**
     * For stores: the same queue, if all of its limits can be read.
     *
     * @throws InvalidRequestException if this version cannot apply one of them: somebody has changed it in the database
     */
    public Queue readable() {
        try {
            turnsOfKeys().forEach(this::turns);
            perWorker();
            perKey();
            concurrency();
            ageing();
            rateWindows();
            rateWindowsPerKey();
            return this;
        } catch (RuntimeException unreadable) {
            throw settings.unreadable(unreadable);
        }
    }

    private Stream<String> turnsOfKeys() {
        return settings.values().keySet().stream()
                .filter(setting -> setting.startsWith(TURNS))
                .map(setting -> setting.substring(TURNS.length()));
    }

    /**
     * At most this many units in any period of this length.
     *
     * @param most how many units
     * @param period the length of the period
     */
    public record Rate(int most, Duration period) {}

    /**
     * For stores: a rate as it is applied. Both windows hold, whatever begins when.
     *
     * @param rate at most this many units in any period of the rate
     * @param burst at most this many in any period over which a burst is spread
     */
    public record Windows(Rate rate, Rate burst) {
        /** From so many bursts in a period on, whole ones are near enough to the rate: less than 1 % is missing. */
        private static final int MANY = 100;

        static Windows of(Rate rate, int burst) {
            int atOnce = Math.min(rate.most(), burst);
            int bursts = rate.most() / atOnce;
            if (rate.most() % atOnce == 0 || bursts >= MANY) {
                Rate both = new Rate(atOnce, rate.period().dividedBy(bursts));
                return new Windows(both, both);
            }
            return new Windows(
                    rate, new Rate(atOnce, rate.period().multipliedBy(atOnce).dividedBy(rate.most())));
        }
    }

    /** How many units of runs may begin in any period, if that is limited; without the burst. */
    public Optional<Rate> rate() {
        return settings.rate(RATE);
    }

    /** The same for each key. */
    public Optional<Rate> ratePerKey() {
        return settings.rate(RATE_PER_KEY);
    }

    /** For stores: the rate and its burst as they are applied. */
    public Optional<Windows> rateWindows() {
        return settings.windows(RATE, BURST);
    }

    /** The same for each key. */
    public Optional<Windows> rateWindowsPerKey() {
        return settings.windows(RATE_PER_KEY, BURST_PER_KEY);
    }

    /** The largest weight that the rates of the queue can allow at once. */
    public int heaviest(boolean keyed) {
        int ofQueue = rateWindows().map(windows -> windows.burst().most()).orElse(UNLIMITED);
        int ofKey = keyed
                ? rateWindowsPerKey().map(windows -> windows.burst().most()).orElse(UNLIMITED)
                : UNLIMITED;
        return Math.min(ofQueue, ofKey);
    }

    /** Whether it limits how many runs begin in a period. */
    public boolean hasRates() {
        return rate().isPresent() || ratePerKey().isPresent();
    }

    /**
     * Whether it limits anything, or has an order of its own: then its runs begin only by a poll, which applies that.
     */
    public boolean hasLimits() {
        return concurrency().isPresent()
                || perWorker().isPresent()
                || perKey().isPresent()
                || hasRates()
                || ageing().isPresent();
    }

    /** For stores and tools: all settings, under names that never change. */
    public Map<String, String> settings() {
        return settings.values();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Queue queue && queue.settings.equals(settings);
    }

    @Override
    public int hashCode() {
        return settings.hashCode();
    }

    @Override
    public String toString() {
        return "queue '%s' %s".formatted(name(), settings());
    }
}
