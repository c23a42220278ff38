package dev.perdure.testing.internal.simulation;

import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Hints;
import dev.perdure.spi.change.Change;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Delivers hints to one process: a moment later, and sometimes never, twice, or much later. */
final class HintLine {
    private static final long MOST_MOMENT = Duration.ofMillis(2).toNanos();
    private static final long MOST_LATE = World.leases(1.5);

    private record Coming(long at, Hints.Hint hint) {}

    private final SimulatedProcess process;
    private final Scheduler scheduler;
    private final Network network;
    private final List<Coming> coming = new ArrayList<>();
    private @Nullable Task deliverer;

    HintLine(SimulatedProcess process, Scheduler scheduler, Network network) {
        this.network = network;
        this.process = process;
        this.scheduler = scheduler;
    }

    /** Starts to deliver hints to this listener. */
    void open(Hints.Listener listener) {
        deliverer = scheduler.fork(process, "hints", () -> {
            while (true) {
                scheduler.await(next(), Clockwork.NEVER, false);
                deliver(listener);
            }
        });
    }

    private long next() {
        long next = Clockwork.NEVER;
        for (Coming each : coming) {
            next = Math.min(next, each.at);
        }
        return next;
    }

    private void deliver(Hints.Listener listener) {
        for (Coming next : List.copyOf(coming)) {
            if (next.at <= scheduler.now()) {
                coming.remove(next);
                listener.hint(next.hint);
            }
        }
    }

    /** The store sends a hint. */
    void arrive(Hints.Hint hint) {
        if (process.isDead()) {
            return;
        }
        Choices choices = scheduler.choices();
        List<Change> commits = scheduler.waiter().commits;
        if (choices.happens(Fault.HINT_LOST, 1, commits)) {
            tell(Fault.HINT_LOST, hint);
            return;
        }
        boolean twice = choices.happens(Fault.HINT_DOUBLED, 1, commits);
        boolean late = choices.happens(Fault.HINT_LATE, 1, commits);
        long moment = choices.between(1, MOST_MOMENT);
        coming.add(new Coming(scheduler.now() + (late ? choices.between(1, MOST_LATE) : moment), hint));
        if (late) {
            tell(Fault.HINT_LATE, hint);
        }
        if (twice) {
            tell(Fault.HINT_DOUBLED, hint);
            coming.add(new Coming(scheduler.now() + choices.between(1, MOST_LATE), hint));
        }
        if (deliverer != null) {
            scheduler.wakeBy(deliverer, next());
        }
    }

    private void tell(Fault fault, Hints.Hint hint) {
        scheduler.trouble();
        network.hit(fault, scheduler.waiter().commits);
        scheduler
                .timeline()
                .add(
                        scheduler,
                        process.name(),
                        () -> "*** hint that %s: %s".formatted(Wording.of(hint), fault.words()));
    }
}
