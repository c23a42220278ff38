package dev.perdure.internal.settings;

import dev.perdure.RetryPolicy;
import dev.perdure.internal.definition.StepTypes;
import dev.perdure.internal.interception.Interceptors;
import dev.perdure.internal.payload.PayloadCodec;
import dev.perdure.spi.measure.Measurements;
import java.time.Duration;

/**
 * How executions behave in an engine.
 *
 * @param codec turns values into bytes, and stores large ones
 * @param stepTypes finds the result types of steps
 * @param retry the retry policy of steps that set none
 * @param warmWindow the longest wait during which a run keeps its thread
 * @param maxPayloadBytes the largest value
 * @param interceptors what is put around starts, workflows and bodies
 * @param measurements gets what the engine measures
 * @param unloadAfterSteps whether a run leaves memory after every step, to test replays
 */
public record ExecutionRules(
        PayloadCodec codec,
        StepTypes stepTypes,
        RetryPolicy retry,
        Duration warmWindow,
        int maxPayloadBytes,
        Interceptors interceptors,
        Measurements measurements,
        boolean unloadAfterSteps) {
    /** The same with another codec. */
    public ExecutionRules with(PayloadCodec other) {
        return new ExecutionRules(
                other, stepTypes, retry, warmWindow, maxPayloadBytes, interceptors, measurements, unloadAfterSteps);
    }
}
