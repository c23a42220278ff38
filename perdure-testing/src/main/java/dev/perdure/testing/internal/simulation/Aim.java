package dev.perdure.testing.internal.simulation;

import dev.perdure.spi.change.Change;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * What a history tries to bring together: a fault, and a kind of change that it hits. Chance alone would try the rare
 * pairs once in many thousand histories. So every other history aims at a pair, and the seeds go through all pairs in
 * turn.
 *
 * @param kind a change, move or effect, of {@link Kinds#all}
 * @param fault what hits it
 */
public record Aim(String kind, Fault fault) {
    private static final List<Aim> ALL = pairs();
    /** Odd, so that a pair meets every kind of store. */
    private static final int PERIOD = 2 * ALL.size() + 1;

    private static List<Aim> pairs() {
        List<Aim> all = new ArrayList<>();
        for (String kind : Kinds.all()) {
            for (Fault fault : Fault.values()) {
                if (fault.hitsCommits()) {
                    all.add(new Aim(kind, fault));
                }
            }
        }
        return List.copyOf(all);
    }

    /** All pairs. */
    public static List<Aim> all() {
        return ALL;
    }

    /** What the history with this seed aims at, or null. */
    static @Nullable Aim of(long seed) {
        long place = Math.floorMod(seed, (long) PERIOD);
        return place % 2 == 0 && place < PERIOD - 1 ? ALL.get((int) (place / 2)) : null;
    }

    /** The seeds from 1 on whose histories aim at this pair. */
    public LongStream seeds() {
        long first = 2L * ALL.indexOf(this);
        return LongStream.iterate(first == 0 ? PERIOD : first, seed -> seed + PERIOD);
    }

    /** Whether these changes have what this fault is to hit. The clock of a process is wrong for all that it does. */
    boolean isAt(Fault candidate, List<Change> changes) {
        return fault == candidate && (fault == Fault.CLOCK || Kinds.of(changes).contains(kind));
    }
}
