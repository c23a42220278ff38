package dev.perdure.conformance.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.conformance.StoreConformance;
import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** What tests of queues share. */
public abstract class QueueConformance extends StoreConformance {
    protected static final String LIMITED = "limited";

    /** For subclasses. */
    protected QueueConformance() {}

    protected final void declare(Queue queue) {
        store().queues().declare(List.of(queue));
    }

    protected static Queue queue() {
        return Queue.named(LIMITED);
    }

    protected static NewRun run(String id) {
        return withQueue(newRun(id), LIMITED);
    }

    protected static NewRun run(String id, String key) {
        return run(id).withQueueKey(key);
    }

    protected static Poll pollAll(WorkerId worker, int limit) {
        return new Poll(worker, Set.of(DEFINITION), Set.of(QUEUE, LIMITED), null, limit, true);
    }

    protected final List<String> claim(WorkerId worker, int limit) {
        return claimedIds(pollAll(worker, limit));
    }

    protected final List<Claimed> taken(WorkerId worker, int limit) {
        return store().dispatch().poll(pollAll(worker, limit)).claimed();
    }

    /** Starts runs that are ready, one after another. */
    protected final void ready(String... ids) {
        for (String id : ids) {
            startReady(run(id));
            advance(Duration.ofMillis(1));
        }
    }

    protected final void readyUnder(String key, String... ids) {
        for (String id : ids) {
            startReady(run(id, key));
            advance(Duration.ofMillis(1));
        }
    }

    protected final void end(WorkerId worker, Claimed claimed) {
        assertThat(apply(worker, advance(claimed.run(), claimed.epoch(), complete("1"))))
                .isInstanceOf(Outcome.Applied.class);
    }

    protected final void endAll(WorkerId worker, List<Claimed> claimed) {
        claimed.forEach(each -> end(worker, each));
    }

    protected final Claimed claimedOf(WorkerId worker) {
        List<Claimed> claimed = taken(worker, 10);
        assertThat(claimed).hasSize(1);
        return claimed.getFirst();
    }

    protected final QueueInfo info() {
        return store().queues().find(LIMITED).orElseThrow();
    }

    protected final String reasonOf(String id) {
        return found(refOf(id)).info().reason().orElse("");
    }
}
