package dev.perdure.testing.internal.simulation;

import dev.perdure.spi.change.Change;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * All random choices of one history. The seed determines all of them.
 *
 * <p>How it works. Orders, durations and ids are drawn one after another. Faults are not: whether a fault of a kind
 * happens at its n-th opportunity follows from the seed, the kind and n alone. So a history can run again without some
 * of its faults, and the others still happen at their places. This is how a failure is shrunk.
 */
public final class Choices {
    /**
     * A fault that happened.
     *
     * @param fault the fault
     * @param opportunity the number of the opportunity at which it happened
     */
    public record Happened(Fault fault, int opportunity) {}

    private static final int[] RATES = {120, 40, 15};
    /** How often the fault happens where a history aims it. */
    private static final int AIMED_RATE = 2;

    private static final int MOST_AIMED = 3;
    private static final int MOST_FAULTS = 8;

    private final long seed;
    private final SplittableRandom random;
    private final @Nullable Set<Happened> only;
    private final Map<Fault, Integer> rates = new EnumMap<>(Fault.class);
    private final Map<Fault, Integer> opportunities = new EnumMap<>(Fault.class);
    private final List<Happened> happened = new ArrayList<>();
    private final @Nullable Aim aim;
    private int aimedLeft;
    private int faultsLeft;
    private boolean quiet;

    private Choices(long seed, @Nullable Set<Happened> only) {
        this.seed = seed;
        this.only = only;
        this.random = new SplittableRandom(mix(seed));
        SplittableRandom plan = new SplittableRandom(mix(~seed));
        // Each history has its own few kinds of faults: all kinds at once would hide each other.
        for (Fault fault : Fault.values()) {
            if (plan.nextInt(5) < 2) {
                rates.put(fault, RATES[plan.nextInt(RATES.length)]);
            }
        }
        faultsLeft = plan.nextInt(MOST_FAULTS + 1);
        aim = Aim.of(seed);
        aimedLeft = aim == null ? 0 : 1 + plan.nextInt(MOST_AIMED);
    }

    /** All choices of this seed. */
    public static Choices of(long seed) {
        return new Choices(seed, null);
    }

    /** All choices of this seed, with no other faults than these. */
    static Choices of(long seed, Set<Happened> only) {
        return new Choices(seed, only);
    }

    /** The seed. */
    public long seed() {
        return seed;
    }

    /** A number from 0 to one less than this. */
    public int pick(int count) {
        return count == 1 ? 0 : random.nextInt(count);
    }

    /** One of these. */
    public <T> T pick(List<T> all) {
        return all.get(pick(all.size()));
    }

    /** A number from the first to the last, both included. */
    public long between(long first, long last) {
        return first == last ? first : random.nextLong(first, last + 1);
    }

    /** True once in this many times. */
    public boolean oneIn(int count) {
        return pick(count) == 0;
    }

    /** 64 random bits. */
    public long bits() {
        return random.nextLong();
    }

    /** What this history aims at, if it aims. */
    public @Nullable Aim aim() {
        return aim;
    }

    /** Whether this fault happens now. */
    boolean happens(Fault fault) {
        return happens(fault, 1, List.of());
    }

    /** Whether this history aims this fault at such a commit, and has not done so often enough. */
    boolean isAimed(Fault fault, List<Change> changes) {
        return aimedLeft > 0 && aim != null && aim.isAt(fault, changes);
    }

    /**
     * Whether this fault happens now.
     *
     * @param seldom this many times less often: for calls that are many and mostly change nothing
     * @param changes what it would hit
     */
    boolean happens(Fault fault, int seldom, List<Change> changes) {
        int opportunity = opportunities.merge(fault, 1, Integer::sum);
        if (quiet) {
            return false;
        }
        boolean aimed = isAimed(fault, changes);
        if (only == null && !aimed && !rates.containsKey(fault)) {
            return false;
        }
        Happened now = new Happened(fault, opportunity);
        if (only != null) {
            if (!only.contains(now)) {
                return false;
            }
            aimedLeft -= aimed ? 1 : 0;
        } else if (aimed) {
            if (!draws(now, AIMED_RATE)) {
                return false;
            }
            aimedLeft -= fault == Fault.CLOCK ? 0 : 1;
        } else {
            Integer rate = rates.get(fault);
            if (rate == null || (fault.counts() && faultsLeft == 0) || !draws(now, rate * seldom)) {
                return false;
            }
            faultsLeft -= fault.counts() ? 1 : 0;
        }
        happened.add(now);
        return true;
    }

    private boolean draws(Happened now, long rate) {
        long drawn = mix(mix(seed + 31L * now.fault().name().hashCode()) + now.opportunity());
        return Long.remainderUnsigned(drawn, rate) == 0;
    }

    /** Stops all faults. */
    void quiet() {
        quiet = true;
    }

    /** The faults that have happened so far, in order. */
    public List<Happened> happened() {
        return Collections.unmodifiableList(happened);
    }

    private static long mix(long value) {
        long mixed = (value ^ (value >>> 33)) * 0xff51afd7ed558ccdL + 0x9e3779b97f4a7c15L;
        mixed = (mixed ^ (mixed >>> 33)) * 0xc4ceb9fe1a85ec53L;
        return mixed ^ (mixed >>> 33);
    }
}
