package dev.perdure.internal.execution.replay;

import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Payload;

/**
 * A context call as a replay compares it.
 *
 * @param position its position in the order of execution
 * @param kind the kind of call
 * @param name its name or parameter
 */
public record ContextCall(int position, Entry.Kind kind, String name) {
    boolean matches(Entry entry) {
        return entry.kind() == kind && entry.name().equals(name);
    }

    public Entry answer(Entry.Status status, Payload payload) {
        return new Entry(position, Entry.ANSWER, kind, name, status, payload);
    }

    public Entry note(int note, Entry.Status status, Payload payload) {
        return new Entry(position, note, kind, name, status, payload);
    }

    public String describe() {
        return describe(kind, name);
    }

    public static String describe(Entry.Kind kind, String name) {
        return switch (kind) {
            case STEP -> "step '" + name + "'";
            case TRANSACTION -> "transaction '" + name + "'";
            case SLEEP -> "sleep of " + name;
            case NOW -> "now()";
            case PATCH -> "patched(\"" + name + "\")";
            case TIMER -> "timer of " + name;
            case RECEIVE -> "receive on topic '" + name + "'";
            case CHILD -> "child '" + name + "'";
            case PROMISE -> "promise '" + name + "'";
            case AWAKEABLE -> "awakeable()";
            case EVENT -> "event '" + name + "'";
            case CHOICE -> name;
            case AWAIT -> "await()";
            case EFFECT -> name;
            case STATE -> "get of state '" + name + "'";
            case STATE_NAMES -> "keys()";
            case UNKNOWN -> "a call that this version of Perdure does not know";
        };
    }
}
