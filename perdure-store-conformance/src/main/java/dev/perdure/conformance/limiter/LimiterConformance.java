package dev.perdure.conformance.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
import dev.perdure.conformance.StoreConformance;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.LimiterInfo;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Permits.Answer;
import dev.perdure.spi.Permits.Request;
import dev.perdure.spi.change.Awaited;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.util.List;
import java.util.Set;

/** A store with a limiter of steps. */
public abstract class LimiterConformance extends StoreConformance {
    static final String STRIPE = "stripe";
    static final int POSITION = 3;

    /** For subclasses. */
    protected LimiterConformance() {}

    static Limiter stripe() {
        return Limiter.named(STRIPE);
    }

    final void declare(Limiter limiter) {
        store().permits().declare(List.of(limiter));
    }

    static Request request(RunRef run, long epoch, int position, int attempt) {
        return new Request(STRIPE, run, epoch, position, attempt);
    }

    final Answer take(WorkerId worker, RunRef run) {
        return take(worker, request(run, 1, POSITION, 1));
    }

    final Answer take(WorkerId worker, Request request) {
        return store().permits().take(worker, List.of(request)).getFirst();
    }

    static Move awaitsPermit() {
        return new Move.Wait(RunState.SUSPENDED, new Due.Never(), new Awaited(Set.of(), 1, Set.of(STRIPE)), 0);
    }

    /** Asks for a permit that is not free, and leaves memory to wait for it. */
    final void waits(WorkerId worker, RunRef run) {
        assertThat(take(worker, run)).isEqualTo(Answer.WAITS);
        assertThat(apply(worker, advance(run, 1, awaitsPermit()))).isInstanceOf(Outcome.Applied.class);
    }

    final void record(WorkerId worker, RunRef run) {
        assertThat(apply(worker, advance(run, 1, STAY, step(POSITION, "1")))).isInstanceOf(Outcome.Applied.class);
    }

    static Entry attempt(int position, int number) {
        return new Entry(
                position, number, Entry.Kind.STEP, "step" + position, Entry.Status.ATTEMPT, payload("\"failed\""));
    }

    final LimiterInfo info() {
        return store().permits().find(STRIPE).orElseThrow();
    }

    final void next() {
        store().permits().next(Set.of(STRIPE));
    }
}
