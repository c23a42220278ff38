package dev.perdure.internal.definition;

import dev.perdure.TypeRef;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.spi.change.Payload;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An operator's changes to the state of a virtual object. They are the input of a handler that every object has, so
 * that they wait for their turn like any other call.
 */
public final class StateEdits {
    private static final TypeRef<List<List<String>>> INPUT = new TypeRef<>() {};
    private static final String SET = "set";
    private static final String CLEAR = "clear";
    private static final String CLEAR_ALL = "clearAll";

    private final List<List<String>> changes = new ArrayList<>();

    /** A state that takes encoded values. */
    public interface Editable {
        /** Sets a value. */
        void set(String name, Payload payload);

        /** Removes a value. */
        void clear(String name);

        /** Removes all values. */
        void clearAll();
    }

    /** Adds a change. */
    public void set(String name, Payload payload) {
        changes.add(List.of(SET, name, Base64.getEncoder().encodeToString(payload.bytes())));
    }

    /** Adds a change. */
    public void clear(String name) {
        changes.add(List.of(CLEAR, name));
    }

    /** Adds a change. */
    public void clearAll() {
        changes.add(List.of(CLEAR_ALL));
    }

    /** The changes as the input of the handler. */
    public List<List<String>> input() {
        return List.copyOf(changes);
    }

    /** The handler that makes the changes, for objects of this type. */
    public static ObjectHandler handler(String object) {
        return new ObjectHandler(target(object), object, true, false);
    }

    private static Target target(String object) {
        return new Target(object + "/(edit)", INPUT.type(), void.class);
    }

    static Registered registered(String object) {
        return new Registered(target(object), "the edits of '" + object + "'", (ctx, input) -> {
            if (ctx instanceof Editable state && input instanceof List<?> wanted) {
                wanted.forEach(change -> apply(state, (List<?>) change));
            }
            return null;
        });
    }

    private static void apply(Editable state, List<?> change) {
        switch (text(change, 0)) {
            case SET ->
                state.set(text(change, 1), new Payload(Base64.getDecoder().decode(text(change, 2))));
            case CLEAR -> state.clear(text(change, 1));
            case CLEAR_ALL -> state.clearAll();
            default -> throw new IllegalArgumentException("Not a change of state: " + change);
        }
    }

    private static String text(List<?> change, int at) {
        @Nullable Object part = change.get(at);
        return String.valueOf(part);
    }
}
