package dev.perdure.conformance.object;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
import dev.perdure.conformance.StoreConformance;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectCall.Hold;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Collectors;

/** What tests of calls of virtual objects share. */
public abstract class ObjectCallConformance extends StoreConformance {
    /** The object that most calls are for. */
    protected static final ObjectKey CART = new ObjectKey("cart", "user-1");

    /** For subclasses. */
    protected ObjectCallConformance() {}

    protected static NewRun call(String id, ObjectKey object, Hold hold) {
        return newRun(id).on(new ObjectCall(object, hold));
    }

    protected static NewRun exclusive(String id) {
        return call(id, CART, Hold.EXCLUSIVE);
    }

    protected static NewRun withParent(NewRun run, RunRef parent) {
        return run.withParent(new Parent(parent, 1, true));
    }

    protected static Move end(int takes) {
        return new Move.End(RunState.COMPLETED, payload("1"), "", takes);
    }

    protected final Outcome.Applied applied(WorkerId worker, Change change) {
        Outcome outcome = apply(worker, change);
        assertThat(outcome).isInstanceOf(Outcome.Applied.class);
        return (Outcome.Applied) outcome;
    }

    protected final Outcome.Started started(WorkerId worker, NewRun run) {
        Outcome outcome = apply(worker, new Change.Start(run, worker));
        assertThat(outcome).isInstanceOf(Outcome.Started.class);
        return (Outcome.Started) outcome;
    }

    protected final Map<String, String> state(ObjectKey object) {
        return store().states().readAll(object).entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, value -> text(value.getValue())));
    }

    protected static String text(Payload payload) {
        return new String(payload.bytes(), StandardCharsets.UTF_8);
    }
}
