package dev.perdure.testing.internal.simulation;

import dev.perdure.error.StoreException;
import dev.perdure.spi.change.Change;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Calls of one process to the store, across a network that delays, loses and repeats.
 *
 * <p>How it works. A call takes a random time to the store and another one back, and other calls run meanwhile. The seed
 * chooses the faults of a call.
 */
final class FaultyCalls {
    private static final long MOST_SLOW = World.leases(1.2);
    /** The longest time for which a process stands still. */
    static final long MOST_FROZEN = World.leases(3);

    private static final long MOST_LATE = World.leases(2);
    private static final long MOST_LATENCY = Duration.ofMillis(3).toNanos();

    private final SimulatedProcess process;
    private final Scheduler scheduler;
    private final Choices choices;
    private final Network network;
    private final Deaths deaths;

    /** What a process learns about its own end. */
    interface Deaths {
        /** Whether this process can die and stand still. The process of the test cannot. */
        boolean mayDie();

        /** The worker closes in an orderly way soon. */
        void close();
    }

    FaultyCalls(SimulatedProcess process, Scheduler scheduler, Network network, Deaths deaths) {
        this.process = process;
        this.scheduler = scheduler;
        this.choices = scheduler.choices();
        this.network = network;
        this.deaths = deaths;
    }

    void tell(Supplier<String> text) {
        scheduler.timeline().add(scheduler, process.name(), text);
    }

    /** A call to the store, to which faults can happen. */
    record Call(Supplier<String> name, int seldom, List<Change> changes) {
        static Call important(Supplier<String> name) {
            return new Call(name, 1, List.of());
        }

        static Call commit(List<Change> changes) {
            return new Call(() -> "commit of " + Wording.of(changes), 1, changes);
        }

        static Call reading(String name) {
            return new Call(() -> name, 2, List.of());
        }

        /** A frequent call that mostly changes nothing. */
        static Call housekeeping(String name) {
            return new Call(() -> name, 12, List.of());
        }
    }

    boolean happens(Fault fault, Call call) {
        if (!choices.happens(fault, call.seldom(), call.changes())) {
            return false;
        }
        scheduler.trouble();
        network.hit(fault, call.changes());
        tell(() -> "*** %s: %s".formatted(call.name().get(), fault.words()));
        return true;
    }

    static StoreException unavailable(String why) {
        return new StoreException(StoreException.Kind.UNAVAILABLE, why, null);
    }

    /** One trip through the network: often so quick that nothing else happens meanwhile. */
    void travel() {
        switch (choices.pick(3)) {
            case 0 -> {}
            case 1 -> scheduler.pause(choices.between(1, MOST_LATENCY) / 10);
            default -> scheduler.pause(choices.between(1, MOST_LATENCY));
        }
    }

    private void misfortunes(Fault death, Call call) {
        if (deaths.mayDie()) {
            if (happens(death, call)) {
                scheduler.kill(process);
            }
            if (happens(Fault.FROZEN, call)) {
                process.freeze(choices.between(1, MOST_FROZEN));
                scheduler.giveWay();
                scheduler.trouble();
            }
            if (happens(Fault.CLOSED, call)) {
                deaths.close();
            }
        }
        if (happens(Fault.SLOW, call)) {
            scheduler.pause(choices.between(1, MOST_SLOW));
        }
    }

    /**
     * A dead process reaches the store no more, although a step may have caught its death. If it dies in a call, its
     * engine first sees a store that is out of reach, and ends without logging anything.
     */
    private <T extends @Nullable Object> T whileAlive(Supplier<T> call) {
        try {
            if (process.isDead()) {
                throw new Killed();
            }
            return call.get();
        } catch (Killed died) {
            if (scheduler.mayEndQuietly()) {
                throw unavailable("The process has died in the simulation.");
            }
            throw died;
        }
    }

    /** A call that only reads. It may be slow, and it may fail where the engine is known to ask again. */
    <T extends @Nullable Object> T read(String name, Supplier<T> call) {
        return whileAlive(() -> readThrough(name, call));
    }

    private <T extends @Nullable Object> T readThrough(String name, Supplier<T> call) {
        travel();
        if (deaths.mayDie()) {
            Call reading = Call.housekeeping(name);
            misfortunes(Fault.KILLED_BEFORE, reading);
            if (happens(Fault.ANSWER_LOST, reading)) {
                throw unavailable("The simulation lost the answer to " + name + ".");
            }
            if (happens(Fault.READ_REFUSED, Call.reading(name))) {
                throw new StoreException(
                        StoreException.Kind.UNUSABLE,
                        "The simulation does not let " + name + " be read (42501).",
                        null);
            }
        }
        T answer = call.get();
        if (!isNothing(answer)) {
            travel();
        }
        return answer;
    }

    /** Whether the store has nothing to tell. Such an answer takes no time, as with housekeeping. */
    private static boolean isNothing(@Nullable Object answer) {
        return switch (answer) {
            case null -> true;
            case Optional<?> optional -> optional.isEmpty();
            case Collection<?> all -> all.isEmpty();
            case Map<?, ?> all -> all.isEmpty();
            default -> false;
        };
    }

    /** A call that changes something. */
    <T extends @Nullable Object> T write(Call name, Supplier<T> call, Supplier<T> lateCall) {
        return whileAlive(() -> writeThrough(name, call, lateCall, answer -> true));
    }

    /**
     * Housekeeping, which mostly finds nothing to do.
     *
     * @param news whether an answer has something that the caller acts on. An answer that has not takes no time,
     *     because nothing depends on what happens while it is on its way
     */
    <T extends @Nullable Object> T keepHouse(String name, Supplier<T> call, Supplier<T> late, Predicate<T> news) {
        return whileAlive(() -> writeThrough(Call.housekeeping(name), call, late, news));
    }

    private <T extends @Nullable Object> T writeThrough(
            Call name, Supplier<T> call, Supplier<T> lateCall, Predicate<T> news) {
        travel();
        misfortunes(Fault.KILLED_BEFORE, name);
        if (happens(Fault.REFUSED, name)) {
            throw unavailable("The simulation refused it (40001).");
        }
        if (happens(Fault.LATE, name)) {
            long delay = choices.between(1, MOST_LATE);
            network.delayed();
            scheduler.fork(scheduler.outside(), "late call of " + process.name(), () -> {
                scheduler.pause(delay);
                T unused = lateCall.get();
                network.arrived();
            });
            scheduler.pause(choices.between(1, MOST_LATE));
            scheduler.trouble();
            throw unavailable("The simulation let the caller give up.");
        }
        T answer = call.get();
        misfortunes(Fault.KILLED_AFTER, name);
        if (happens(Fault.ANSWER_LOST, name)) {
            throw unavailable("The simulation lost the answer.");
        }
        if (news.test(answer)) {
            travel();
        }
        return answer;
    }
}
