package dev.perdure.torture;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.ReentrantLock;

/** Gives faults in an order that the seed decides, and none again before all others have had their turn. */
final class FaultOrder<T> {
    private final ReentrantLock lock = new ReentrantLock();
    private final List<T> all;
    private final Random chance;
    private final List<T> left = new ArrayList<>();
    private int given;

    FaultOrder(List<T> all, Random chance) {
        this.all = List.copyOf(all);
        this.chance = chance;
    }

    T next() {
        lock.lock();
        try {
            if (left.isEmpty()) {
                left.addAll(all);
                Collections.shuffle(left, chance);
            }
            given++;
            return left.removeLast();
        } finally {
            lock.unlock();
        }
    }

    /** Whether each fault has had its turn. */
    boolean hadAll() {
        lock.lock();
        try {
            return given >= all.size();
        } finally {
            lock.unlock();
        }
    }
}
