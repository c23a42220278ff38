package dev.perdure.postgres;

import dev.perdure.spi.Ledger;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.WorkerId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;

/** The simplest group commit: a caller that finds a free lane sends all that is queued, in its own thread. */
final class GroupCommitter {
    private record Waiting(Change change, CompletableFuture<Outcome> outcome) {}

    private final Ledger ledger;
    private final WorkerId worker;
    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Waiting> queue = new ArrayDeque<>();
    private final ArrayDeque<Integer> freeLanes = new ArrayDeque<>();

    GroupCommitter(Ledger ledger, WorkerId worker, int lanes) {
        this.ledger = ledger;
        this.worker = worker;
        for (int lane = 0; lane < lanes; lane++) {
            freeLanes.add(lane);
        }
    }

    Outcome commit(Change change) {
        Waiting mine = new Waiting(change, new CompletableFuture<>());
        Integer lane;
        lock.lock();
        try {
            queue.add(mine);
            lane = freeLanes.poll();
        } finally {
            lock.unlock();
        }
        if (lane != null) {
            lead(lane);
        }
        return mine.outcome().join();
    }

    private void lead(int lane) {
        List<Waiting> batch = take(lane);
        while (!batch.isEmpty()) {
            List<Outcome> outcomes = ledger.apply(
                    new Lane(worker, lane), batch.stream().map(Waiting::change).toList());
            for (int i = 0; i < outcomes.size(); i++) {
                batch.get(i).outcome().complete(outcomes.get(i));
            }
            batch = take(lane);
        }
    }

    /** The next batch, or nothing, with the lane set free, when the queue is empty. */
    private List<Waiting> take(int lane) {
        lock.lock();
        try {
            List<Waiting> batch = new ArrayList<>();
            while (!queue.isEmpty() && batch.size() < 1_000) {
                batch.add(queue.poll());
            }
            if (batch.isEmpty()) {
                freeLanes.add(lane);
            }
            return batch;
        } finally {
            lock.unlock();
        }
    }
}
