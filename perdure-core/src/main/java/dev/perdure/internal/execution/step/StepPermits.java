package dev.perdure.internal.execution.step;

import dev.perdure.StepOptions;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.transition.Transitions;
import dev.perdure.internal.execution.transition.WaitCondition;
import dev.perdure.internal.execution.transition.Waits;
import dev.perdure.queue.Limiter;
import dev.perdure.spi.Permits.Request;

/**
 * The permits of a run's limited steps.
 *
 * <p>How it works: before each attempt the run asks for a permit. If it gets none, it has a place in the line of the
 * limiter, and waits as it waits for mail: the store wakes it when its turn comes, and it asks again. Nothing of this
 * is in the journal. The commit that records the attempt gives the permit back.
 *
 * <p>Crash points, in order. After the request: the run keeps its place in the line. While it holds the permit: the
 * sweep gives the run to another worker under another epoch, and with that the permit is free; the run asks again.
 * After the record: the permit is free.
 */
public record StepPermits(HeldRun held, Host host, Transitions transitions, Waits waits) {
    /**
     * Waits until this attempt holds a permit, in memory or out of it. Cancel and deadline are delivered as the call's
     * answer.
     */
    void await(ContextCall call, int attempt, StepOptions options) {
        Limiter limiter = options.limiter().orElse(null);
        if (limiter == null) {
            return;
        }
        while (!isHeld(call, attempt, limiter)) {
            WaitCondition turn = new WaitCondition();
            turn.permit(limiter.name());
            waits.await(turn);
            transitions.obeySignals(); // before the request, so that a turn that comes after it keeps the run in memory
            transitions.deliverTo(call);
            transitions.askForPermits();
        }
    }

    /** Asks for a permit for this attempt: if it gets none, the attempt has a place in the line. */
    public boolean take(ContextCall call, int attempt, StepOptions options) {
        Limiter limiter = options.limiter().orElse(null);
        return limiter == null || isHeld(call, attempt, limiter);
    }

    private boolean isHeld(ContextCall call, int attempt, Limiter limiter) {
        Request request = new Request(limiter.name(), held.run(), held.epoch(), call.position(), attempt);
        try {
            return host.store().permit(limiter, request);
        } catch (InvalidRequestException refused) { // the store cannot keep this limiter
            throw refused;
        } catch (RuntimeException | Error trouble) { // of the store or the engine, and so never a failure of the run
            throw transitions.lost(trouble);
        }
    }

    /** An attempt has been recorded. */
    public void recorded(StepOptions options) {
        options.limiter()
                .filter(limiter -> limiter.concurrency().isPresent())
                .ifPresent(limiter -> host.store().permitFreed(limiter.name()));
    }
}
