package dev.perdure.internal.execution.host;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Which failed attempts are logged with their stacks. A small outage fails the same step of all runs, again and again: of
 * these a stack is logged once a minute.
 */
public final class AttemptStacks {
    private static final Duration WINDOW = Duration.ofMinutes(1);
    /** How many kinds it remembers. */
    private static final int REMEMBERED = 100;

    /** What fails in the same way. */
    private record Kind(String definition, String step, String exception) {}

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Kind, Instant> logged = new LinkedHashMap<>();

    /** Whether the stack of this exception is to be logged, because none of its kind was in the last minute. */
    public boolean isDue(String definition, String step, Throwable thrown, Instant now) {
        Kind kind = new Kind(definition, step, thrown.getClass().getName());
        lock.lock();
        try {
            Instant before = logged.get(kind);
            if (before != null && Duration.between(before, now).abs().compareTo(WINDOW) <= 0) {
                return false;
            }
            logged.remove(kind);
            logged.put(kind, now);
            if (logged.size() > REMEMBERED) {
                logged.remove(logged.keySet().iterator().next());
            }
            return true;
        } finally {
            lock.unlock();
        }
    }
}
