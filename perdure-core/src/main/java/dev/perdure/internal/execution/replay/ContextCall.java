package dev.perdure.internal.execution.replay;

import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Payload;
import java.util.regex.Pattern;

/**
 * A context call as a replay compares it.
 *
 * @param position its position in the order of execution
 * @param kind the kind of call
 * @param name its name or parameter
 */
public record ContextCall(int position, Entry.Kind kind, String name) {
    /** The run to which something is sent. */
    private static final Pattern TARGET = Pattern.compile("' (to|of) '.*");
    /** The key of an event that is emitted. */
    private static final Pattern KEY = Pattern.compile("(emit '[^/]*)/.*");
    /** The hash of a token. */
    private static final Pattern TOKEN = Pattern.compile("((resolve|reject) awakeable) '.*");

    boolean matches(Entry entry) {
        return entry.kind() == kind && entry.name().equals(name);
    }

    /**
     * Whether it is the same call but for what may follow from the id of the run, its random numbers or its tokens, which a
     * fork does not have in common with the other run.
     */
    boolean matchesOfAnotherRun(Entry entry) {
        return entry.kind() == kind && constant(kind, entry.name()).equals(constant(kind, name));
    }

    /** Whether it answers an awakeable, whose token is not known everywhere. */
    boolean answersAwakeable() {
        return kind == Entry.Kind.STEP && TOKEN.matcher(name).matches();
    }

    private static String constant(Entry.Kind kind, String name) {
        return switch (kind) {
            case SLEEP, TIMER -> "";
            case EVENT -> name.replaceFirst("/.*", "");
            case EFFECT -> TARGET.matcher(name).replaceFirst("");
            case STEP -> TOKEN.matcher(KEY.matcher(name).replaceFirst("$1")).replaceFirst("$1");
            case TRANSACTION,
                    NOW,
                    PATCH,
                    RECEIVE,
                    CHILD,
                    PROMISE,
                    AWAKEABLE,
                    CHOICE,
                    AWAIT,
                    STATE,
                    STATE_NAMES,
                    UNKNOWN -> name;
        };
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
