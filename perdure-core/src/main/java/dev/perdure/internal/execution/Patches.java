package dev.perdure.internal.execution;

import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.transition.ContextCalls;
import dev.perdure.internal.execution.transition.Transitions;
import dev.perdure.internal.text.Texts;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Payload;
import java.util.HashMap;
import java.util.Map;

/** Decides between the old and the new branch of the code, once per run, when the run first reaches the call. */
final class Patches {
    private final ContextCalls calls;
    private final Transitions transitions;
    private final Map<String, Boolean> decided = new HashMap<>();

    Patches(ContextCalls calls, Transitions transitions) {
        this.calls = calls;
        this.transitions = transitions;
    }

    /** Whether this run takes the new branch. */
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
        ContextCall call = calls.take("patched", Entry.Kind.PATCH, id);
        if (!recorded) {
            transitions.unanswered(call);
            transitions.defer(call.answer(Entry.Status.VALUE, Payload.EMPTY));
        }
        return true;
    }
}
