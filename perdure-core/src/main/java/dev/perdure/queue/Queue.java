package dev.perdure.queue;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Names;
import java.util.Collections;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * A queue and its limits. Immutable. Declare it when you set up the engine; the declaration is kept in the store, so
 * that the limits hold across all processes:
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

    private Queue(String name, Map<String, String> settings) {
        this.name = name;
        this.settings = settings;
    }

    /** A queue without limits. */
    public static Queue named(String name) {
        return new Queue(Names.require("queue", name, MAX_NAME), Map.of());
    }

    /** For stores: a queue with the settings that {@link #settings()} has given. */
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

    /** Which runs the limits count. */
    public Queue counting(Counting counted) {
        return with(COUNTING, counted.name());
    }

    private Queue limit(String setting, String method, int most) {
        if (most < 1) {
            throw new InvalidRequestException(
                    "%s of the queue '%s' is %d; it is at least 1. To let nothing begin, pause the queue."
                            .formatted(method, name, most));
        }
        return with(setting, most == UNLIMITED ? "none" : String.valueOf(most));
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

    private OptionalInt limit(String setting) {
        String value = settings.get(setting);
        return value == null || value.equals("none") ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(value));
    }

    /** Whether it limits anything. */
    public boolean hasLimits() {
        return concurrency().isPresent() || perWorker().isPresent() || perKey().isPresent();
    }

    /** For stores and tools: all that was set, under names that never change. */
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
