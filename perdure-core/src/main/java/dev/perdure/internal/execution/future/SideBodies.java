package dev.perdure.internal.execution.future;

import dev.perdure.internal.execution.transition.BodyGuard;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The asynchronous steps of a run, and their bodies beside the run's thread. Most runs have none, so it is made with the
 * first of them.
 */
final class SideBodies {
    /** Of runs that have none. Nothing is added to it. */
    static final SideBodies NONE = new SideBodies();

    // Only the run's own thread uses these two.
    final List<StepFuture<?>> begun = new ArrayList<>();
    final Set<StepFuture<?>> queued = new LinkedHashSet<>();

    final Queue<Runnable> finished = new ConcurrentLinkedQueue<>();
    /** In the order in which they began, so that an interrupt reaches them in the same order each time. */
    final Queue<BodyGuard> guards = new ConcurrentLinkedQueue<>();

    final AtomicInteger running = new AtomicInteger();
}
