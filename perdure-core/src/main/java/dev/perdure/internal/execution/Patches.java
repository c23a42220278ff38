package dev.perdure.internal.execution;

import dev.perdure.spi.Entry;
import dev.perdure.spi.Payload;
import java.util.HashMap;
import java.util.Map;

/** Which way the code goes where it has two: decided once for a run, when it first comes there. */
final class Patches {
    private final Calls calls;
    private final Transitions transitions;
    private final Map<String, Boolean> decided = new HashMap<>();

    Patches(Calls calls, Transitions transitions) {
        this.calls = calls;
        this.transitions = transitions;
    }

    /** Whether this run takes the new way. */
    boolean isTaken(String id) {
        Texts.requireName("patch id", id);
        calls.enter("patched");
        return decided.computeIfAbsent(id, this::decide);
    }

    private boolean decide(String id) {
        boolean recorded = calls.nextIsPatch(id);
        if (!recorded && calls.replaying()) {
            return false;
        }
        Call call = calls.take("patched", Entry.Kind.PATCH, id);
        if (!recorded) {
            transitions.ride(call.answer(Entry.Status.VALUE, Payload.EMPTY));
        }
        return true;
    }
}
