package dev.perdure.internal.execution.host;

import dev.perdure.RunId;
import dev.perdure.internal.definition.Registered;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Origin;
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
 * @param epoch the epoch under which the worker holds it
 * @param definition the definition to run
 * @param input its input
 * @param seed the seed of its ids and random numbers
 * @param control the requests for it when the worker took it
 * @param deadline when its timeout is delivered, or null
 * @param alone whether no other run may run beside it
 * @param premises the outcomes of the tasks that it comes after; empty for a run that is no task
 * @param object the virtual object that it calls, or null
 * @param known the known state of that object, or null
 * @param origin its queue and its headers
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
        @Nullable KnownState known,
        Origin origin) {
    /** A run that the worker claimed, or that was handed over to it. */
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
                        .orElse(null),
                claim.origin());
    }

    /** What the store has read of the run and this version does not know, for the beginning of a message. */
    public Optional<String> unknown() {
        if (object != null && object.hold() == ObjectCall.Hold.UNKNOWN) {
            return Optional.of("The way in which run '%s' holds the object '%s/%s'"
                    .formatted(run.id(), object.object().type(), object.object().key()));
        }
        return premises.stream()
                .filter(premise -> !premise.isKnown())
                .map(premise -> "The state of task '%s', which run '%s' comes after,"
                        .formatted(premise.run().id(), run.id()))
                .findFirst();
    }

    /** The run for which its input was made. */
    public RunId inputOwner() {
        return definition.function().inputOwner(run.id());
    }
}
