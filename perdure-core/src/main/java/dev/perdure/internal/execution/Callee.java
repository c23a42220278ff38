package dev.perdure.internal.execution;

import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.internal.definition.ObjectHandler;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.spi.ObjectCall;
import dev.perdure.spi.ObjectKey;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What is called: a workflow, or a handler of one virtual object.
 *
 * @param target its name and types
 * @param handler the handler, or null for a workflow
 * @param key the object's key; empty for a workflow
 */
public record Callee(Target target, @Nullable ObjectHandler handler, String key) {
    /** A workflow. */
    public static Callee of(Target target) {
        return new Callee(target, null, "");
    }

    /** A handler of one virtual object. */
    public static Callee of(ObjectHandler handler, String key) {
        return new Callee(handler.target(), handler, key);
    }

    /** The object that the run will be a call of, or null. */
    public @Nullable ObjectCall object(StartOptions options) {
        return handler == null ? null : handler.call(key, options.delay().isPresent());
    }

    /** The id that is chosen for the run, by the caller or by the handler. */
    public Optional<RunId> id(StartOptions options) {
        if (handler == null || !handler.once()) {
            return options.id();
        }
        handler.requireNoId(options.id().isPresent());
        return Optional.of(RunId.of(ObjectHandler.mainId(new ObjectKey(handler.object(), key))));
    }

    /** What replays compare. */
    String name() {
        return handler == null ? target.name() : "%s of '%s'".formatted(target.name(), key);
    }
}
