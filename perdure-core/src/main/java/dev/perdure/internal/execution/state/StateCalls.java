package dev.perdure.internal.execution.state;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.transition.ContextCalls;
import dev.perdure.internal.execution.transition.Transitions;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.text.Texts;
import dev.perdure.object.StateKey;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Recorded;
import java.util.Arrays;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The calls that read and change the state of a virtual object. The journal records what a call read, because the code
 * depends on it, and that a call changed something, so that it is not changed again. Neither needs an answer, so both
 * are written with the next transition.
 */
public final class StateCalls {
    private final ContextCalls calls;
    private final Transitions transitions;
    private final Values values;
    private final StateSource source;

    public StateCalls(ContextCalls calls, Transitions transitions, Values values, StateSource source) {
        this.calls = calls;
        this.transitions = transitions;
        this.values = values;
        this.source = source;
    }

    // ---- reading

    public <T> Optional<T> get(StateKey<T> key) {
        Texts.requireGiven("state key", key);
        ContextCall call = calls.takeAhead("get", Entry.Kind.STATE, key.name());
        Entry answer = recorded(call).orElseGet(() -> ask(call, key.name()));
        if (answer.status() == Entry.Status.ABSENT) {
            return Optional.empty();
        }
        try {
            return Optional.ofNullable(decoded(answer.payload(), key));
        } catch (PayloadException unreadable) {
            throw transitions.unreadable(call, unreadable);
        }
    }

    @SuppressWarnings("unchecked") // decoded as the key's own type
    private <T> @Nullable T decoded(Payload payload, StateKey<T> key) {
        return (T) values.at(source.place(key.name())).decode(payload, key.type());
    }

    private Optional<Entry> recorded(ContextCall call) {
        return calls.rethrowDelivered(call).answer().map(Recorded::entry);
    }

    private Entry ask(ContextCall call, String name) {
        transitions.deliverTo(call);
        Entry answer = calls.fitting(() -> transitions.answered(() -> source.read(name)))
                .map(payload -> call.answer(Entry.Status.VALUE, renewed(call, name, payload)))
                .orElseGet(() -> call.answer(Entry.Status.ABSENT, Payload.EMPTY));
        transitions.deferForReplay(answer);
        return answer;
    }

    /** A value keeps its place in the journal, and needs no key that an operator is about to throw away. */
    private Payload renewed(ContextCall call, String name, Payload payload) {
        try {
            return values.at(source.place(name)).renewed(payload);
        } catch (PayloadException unreadable) {
            throw transitions.unreadable(call, unreadable);
        }
    }

    public SortedSet<String> names() {
        ContextCall call = calls.takeAhead("keys", Entry.Kind.STATE_NAMES, "");
        Entry answer = recorded(call).orElseGet(() -> askNames(call));
        try {
            String[] names = values.at(call.position()).decode(answer.payload(), String[].class);
            if (Arrays.asList(names).contains(null)) {
                throw new PayloadException("A name is null.");
            }
            return new TreeSet<>(Arrays.asList(names));
        } catch (PayloadException unreadable) {
            throw transitions.unreadable(call, unreadable);
        }
    }

    private Entry askNames(ContextCall call) {
        transitions.deliverTo(call);
        String[] names =
                calls.fitting(() -> transitions.answered(source::names)).toArray(String[]::new);
        Entry answer =
                call.answer(Entry.Status.VALUE, values.at(call.position()).encode(names));
        transitions.deferForReplay(answer);
        return answer;
    }

    // ---- changing

    public <T> void set(ObjectMemory memory, StateKey<T> key, T value) {
        Texts.requireGiven("state key", key);
        if (value == null) {
            throw new InvalidRequestException(
                    "The state '%s' was set to null. Give it a value, or clear it.".formatted(key));
        }
        write(
                memory,
                key.name(),
                values.at(source.place(key.name()))
                        .store(value, key.type(), "the state '" + key + "'")
                        .payload());
    }

    /** Sets a value that was encoded without the transform: an operator's process may have no keys. */
    public void set(ObjectMemory memory, String name, Payload plain) {
        write(memory, name, values.at(source.place(name)).transformed(plain));
    }

    private void write(ObjectMemory memory, String name, Payload payload) {
        change(
                "set",
                "set state '" + name + "'",
                new Effect.SetState(name, payload),
                () -> memory.write(name, Optional.of(payload)));
    }

    public void clear(ObjectMemory memory, String name) {
        change(
                "clear",
                "clear state '" + name + "'",
                new Effect.ClearState(name),
                () -> memory.write(name, Optional.empty()));
    }

    public void clearAll(ObjectMemory memory) {
        change("clearAll", "clear all state", new Effect.ClearAllState(), memory::clearAll);
    }

    /** A change that is recorded is already in the store, and so in what is read from there. */
    private void change(String what, String name, Effect effect, Runnable remember) {
        ContextCall call = calls.takeAhead(what, Entry.Kind.EFFECT, name);
        if (recorded(call).isEmpty()) {
            transitions.deliverTo(call);
            transitions.deferForReplay(call.answer(Entry.Status.VALUE, Payload.EMPTY), effect);
            remember.run();
        }
    }
}
