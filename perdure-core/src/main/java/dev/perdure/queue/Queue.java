package dev.perdure.queue;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Names;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;

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
    private static final String NONE = "none";
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
    private static final Duration LONGEST_PERIOD = Duration.ofDays(366);

    private final String name;
    private final Map<String, String> settings;

    /** Which runs {@link Queue#concurrency} and {@link Queue#perKey} count. */
    public enum Counting {
        /** Runs that have begun and have not ended. A run that sleeps or waits keeps its place. The default. */
        BEGUN,
        /**
         * Runs that a worker holds in memory. A run that sleeps or waits for longer than the warm window gives its place
         * back, and takes one again when it wakes.
         */
        AT_WORK
    }

    /**
     * What happens to a start whose key is full: as many runs of the key hold a place, or wait for one, as
     * {@link Queue#perKey} allows. The store decides this in the transaction that starts the run. Only starts of workflows
     * by callers are decided so: children, DAGs, calls of virtual objects and delayed starts always wait.
     */
    public enum WhenKeyFull {
        /** The run is started, and waits for a place. The default. */
        WAIT,
        /**
         * The start throws {@link dev.perdure.error.KeyFullException} and nothing is started. Through the outbox and from SQL
         * no caller could get the exception: there the run is started, and ends as cancelled at once, with the reason.
         */
        REFUSE,
        /**
         * The oldest runs of the key are cancelled, so many that the new run has a place. It begins when they have ended: a
         * run that is cancelled keeps its place until then.
         */
        CANCEL_OLDEST,
        /** The run is started, and ends as cancelled at once, with the reason. */
        DROP_NEWEST
    }

    private Queue(String name, Map<String, String> settings) {
        this.name = name;
        this.settings = settings;
    }

    /** A queue without limits. */
    public static Queue named(String name) {
        return new Queue(Names.require("queue", name, MAX_NAME), Map.of());
    }

    /** For stores: a queue with the settings that {@link #settings()} returned. */
    public static Queue of(String name, Map<String, String> settings) {
        return new Queue(name, Collections.unmodifiableMap(new TreeMap<>(settings)));
    }

    /** At most this many runs of the queue at once, in all processes together. */
    public Queue concurrency(int most) {
        return limit(CONCURRENCY, "concurrency", most);
    }

    /** At most this many runs of the queue in the memory of one worker. */
    public Queue perWorker(int most) {
        return limit(PER_WORKER, "perWorker", most);
    }

    /** At most this many runs with the same key at once, in all processes together. Runs without a key are not counted. */
    public Queue perKey(int most) {
        return limit(PER_KEY, "perKey", most);
    }

    /** What happens to a start whose key is full. Without {@link #perKey} it has no effect. */
    public Queue whenKeyFull(WhenKeyFull policy) {
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
            throw new InvalidRequestException("The turns of the key '%s' of the queue '%s' are %d; they are 1 to %d."
                    .formatted(key, name, turns, MOST_TURNS));
        }
        return with(TURNS + key, String.valueOf(turns));
    }

    /**
     * Raises the priority of a waiting run by one with each period that it has waited, so that runs of low priority do
     * not wait for ever. The period counts from when the run became ready. {@link Duration#ZERO} turns it off, which is
     * the default.
     */
    public Queue ageing(Duration period) {
        if (period.isZero()) {
            return with(AGEING, NONE);
        }
        requirePeriod("ageing", period);
        return with(AGEING, period.toString());
    }

    /** Which runs the limits count. */
    public Queue counting(Counting counted) {
        return with(COUNTING, counted.name());
    }

    /**
     * At most this many runs begin in any period of this length, in all processes together, by the clock of the store.
     * A run counts when it first begins, with the weight that its start options give it; when it continues after a
     * sleep or a crash, it does not count again.
     */
    public Queue rate(int most, Duration period) {
        return rate(RATE, "rate", most, period);
    }

    /** At most this many of the runs that {@link #rate} allows begin at once; the others are spread over the period. */
    public Queue burst(int most) {
        return limit(BURST, "burst", most);
    }

    /** The same as {@link #rate} for each key. Runs without a key are not counted. */
    public Queue ratePerKey(int most, Duration period) {
        return rate(RATE_PER_KEY, "ratePerKey", most, period);
    }

    /** The same as {@link #burst} for each key. */
    public Queue burstPerKey(int most) {
        return limit(BURST_PER_KEY, "burstPerKey", most);
    }

    private Queue rate(String setting, String method, int most, Duration period) {
        if (most < 1) {
            throw new InvalidRequestException(
                    "%s of the queue '%s' is %d; it is at least 1. To let nothing begin, pause the queue."
                            .formatted(method, name, most));
        }
        requirePeriod(method, period);
        return with(setting, most == UNLIMITED ? NONE : most + "/" + period);
    }

    private void requirePeriod(String method, Duration period) {
        if (period.compareTo(Duration.ofMillis(1)) < 0 || period.compareTo(LONGEST_PERIOD) > 0) {
            throw new InvalidRequestException(
                    "The period of the %s of the queue '%s' is %s; it is at least a millisecond and at most %d days."
                            .formatted(method, name, period, LONGEST_PERIOD.toDays()));
        }
    }

    private Queue limit(String setting, String method, int most) {
        if (most < 1) {
            throw new InvalidRequestException(
                    "%s of the queue '%s' is %d; it is at least 1. To let nothing begin, pause the queue."
                            .formatted(method, name, most));
        }
        return with(setting, most == UNLIMITED ? NONE : String.valueOf(most));
    }

    private Queue with(String setting, String value) {
        Map<String, String> more = new TreeMap<>(settings);
        more.put(setting, value);
        return of(name, more);
    }

    /** This queue with the settings of another, where that one has any. */
    public Queue with(Queue changes) {
        Map<String, String> both = new TreeMap<>(settings);
        both.putAll(changes.settings);
        return of(name, both);
    }

    /** Its name. */
    public String name() {
        return name;
    }

    /** How many runs at once in all processes, if that is limited. */
    public OptionalInt concurrency() {
        return limit(CONCURRENCY);
    }

    /** How many runs at once in one worker, if that is limited. */
    public OptionalInt perWorker() {
        return limit(PER_WORKER);
    }

    /** How many runs of one key at once, if that is limited. */
    public OptionalInt perKey() {
        return limit(PER_KEY);
    }

    /** Which runs the limits count. */
    public Counting counting() {
        String counted = settings.get(COUNTING);
        return counted == null ? Counting.BEGUN : Counting.valueOf(counted);
    }

    /** How many turns the key gets for each turn of the others. */
    public int turns(String key) {
        return Integer.parseInt(settings.getOrDefault(TURNS + key, "1"));
    }

    /** The period with which the priority of waiting runs rises, if it does. */
    public Optional<Duration> ageing() {
        String period = settings.get(AGEING);
        return period == null || period.equals(NONE) ? Optional.empty() : Optional.of(Duration.parse(period));
    }

    /** What happens to a start whose key is full. */
    public WhenKeyFull whenKeyFull() {
        String policy = settings.get(WHEN_KEY_FULL);
        return policy == null ? WhenKeyFull.WAIT : WhenKeyFull.valueOf(policy);
    }

    /** For stores: whether a start under a key of the queue may be decided otherwise than to wait. */
    public boolean decidesStarts() {
        return perKey().isPresent() && whenKeyFull() != WhenKeyFull.WAIT;
    }

    private OptionalInt limit(String setting) {
        String value = settings.get(setting);
        return value == null || value.equals(NONE) ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(value));
    }

    /**
     * At most this many units in any period of this length.
     *
     * @param most how many units
     * @param period the length of the period
     */
    public record Rate(int most, Duration period) {
        /**
         * The rate that applies if at most this many units may begin at once: the others are spread over the period.
         */
        Rate spread(int burst) {
            int atOnce = Math.min(most, burst);
            return new Rate(atOnce, period.dividedBy(most / atOnce));
        }
    }

    /** How many units of runs may begin in any period, if that is limited; without the burst. */
    public Optional<Rate> rate() {
        return rate(RATE);
    }

    /** The same for each key. */
    public Optional<Rate> ratePerKey() {
        return rate(RATE_PER_KEY);
    }

    /** The rate as it is applied: with a burst, fewer in a shorter period. */
    public Optional<Rate> appliedRate() {
        return rate().map(rate -> rate.spread(limit(BURST).orElse(UNLIMITED)));
    }

    /** The same for each key. */
    public Optional<Rate> appliedRatePerKey() {
        return ratePerKey().map(rate -> rate.spread(limit(BURST_PER_KEY).orElse(UNLIMITED)));
    }

    private Optional<Rate> rate(String setting) {
        String value = settings.get(setting);
        if (value == null || value.equals(NONE)) {
            return Optional.empty();
        }
        int slash = value.indexOf('/');
        return Optional.of(
                new Rate(Integer.parseInt(value.substring(0, slash)), Duration.parse(value.substring(slash + 1))));
    }

    /** The largest weight that counts. A heavier run takes all that the rates of the queue allow. */
    public int heaviest(boolean keyed) {
        int ofQueue = rate().map(Rate::most).orElse(UNLIMITED);
        int ofKey = keyed ? ratePerKey().map(Rate::most).orElse(UNLIMITED) : UNLIMITED;
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
        return settings;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Queue queue && queue.name.equals(name) && queue.settings.equals(settings);
    }

    @Override
    public int hashCode() {
        return name.hashCode() * 31 + settings.hashCode();
    }

    @Override
    public String toString() {
        return "queue '%s' %s".formatted(name, settings);
    }
}
