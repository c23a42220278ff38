package dev.perdure.internal.execution.host;

import dev.perdure.internal.definition.Registered;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Premise;
import dev.perdure.spi.change.RunRef;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A run that this worker holds.
 *
 * @param run the run
 * @param epoch under which it is held
 * @param definition what to run
 * @param input with what
 * @param seed what its own ids and chances come from
 * @param control what had been asked of it when it was taken
 * @param deadline when its timeout is delivered, or null
 * @param alone whether nothing else may run beside it
 * @param premises how those ended that it comes after; empty for a run that is no task
 * @param object the virtual object that it is a call of, or null
 * @param known what is known of that object, or null
 */
public record HeldRun(
        RunRef run,
        long epoch,
        Registered definition,
        Payload input,
        long seed,
        Control control,
        @Nullable Instant deadline,
        boolean alone,
        List<Premise> premises,
        @Nullable ObjectCall object,
        @Nullable KnownState known) {
    /** A run that was claimed or handed over. */
    public static HeldRun of(Claimed claim, Registered definition, Optional<KnownState> known) {
        ObjectCall call = claim.object();
        Optional<ObjectKey> holding = Optional.ofNullable(call)
                .filter(each -> each.hold() == ObjectCall.Hold.EXCLUSIVE)
                .map(ObjectCall::object);
        return new HeldRun(
                claim.run(),
                claim.epoch(),
                definition,
                claim.input(),
                claim.seed(),
                claim.control(),
                claim.deadline(),
                claim.alone(),
                claim.premises(),
                call,
                known.filter(state -> holding.equals(Optional.of(state.object())))
                        .orElse(null));
    }
}
