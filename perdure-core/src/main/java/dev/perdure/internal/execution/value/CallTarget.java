package dev.perdure.internal.execution.value;

import dev.perdure.RunId;
import dev.perdure.StartKey;
import dev.perdure.StartOptions;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.definition.ObjectHandler;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.internal.text.Reserved;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Task;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What is called: a workflow, a DAG, or a handler of one virtual object.
 *
 * @param target its name and types
 * @param handler the handler, or null
 * @param key the object's key; empty without a handler
 * @param dag makes the tasks of a DAG's run; null if it is not a DAG
 */
public record CallTarget(
        Target target,
        @Nullable ObjectHandler handler,
        String key,
        @Nullable Function<NewRun, List<Task>> dag) {
    /** What it is, for messages. */
    public enum Kind {
        WORKFLOW,
        DAG,
        HANDLER;

        @Override
        public String toString() {
            return this == DAG ? name() : name().toLowerCase(Locale.ROOT);
        }
    }

    Kind kind() {
        if (handler != null) {
            return Kind.HANDLER;
        }
        return dag == null ? Kind.WORKFLOW : Kind.DAG;
    }

    /** A workflow. */
    public static CallTarget of(Target target) {
        return new CallTarget(target, null, "", null);
    }

    /** A DAG, with the tasks that start with its run. */
    public static CallTarget of(Target target, Function<NewRun, List<Task>> tasks) {
        return new CallTarget(target, null, "", tasks);
    }

    /** A handler of one virtual object. */
    public static CallTarget of(ObjectHandler handler, String key) {
        return new CallTarget(handler.target(), handler, key, null);
    }

    /** Refuses null, names that are reserved, and options that the run of a DAG cannot have. */
    public void require(StartOptions options) {
        if (options == null) {
            throw new InvalidRequestException(
                    "The options of the run of '%s' are null. Give StartOptions.defaults(), or leave them out."
                            .formatted(target.name()));
        }
        if (!target.name().startsWith(Reserved.NAMES)) {
            options.id().ifPresent(id -> Reserved.requireFreeId("run id", id.value()));
            Reserved.requireFreeQueue(options.queue());
        }
        options.startKey().ifPresent(this::requireFitting);
        if (dag != null && !options.messages().isEmpty()) {
            throw new InvalidRequestException(
                    "The run of DAG '%s' was started with a message, but its own run receives none: its tasks are runs of their own. Send it to a task that is a workflow, under the id of the run, a '/' and the name of the task."
                            .formatted(target.name()));
        }
    }

    /** Refuses a key that does not fit the called workflow, DAG or handler. */
    private void requireFitting(StartKey startKey) {
        boolean replaces = startKey instanceof StartKey.Deduplication deduplication
                && deduplication.until() == StartKey.Until.ENDED
                && deduplication.duplicate() == StartKey.Duplicate.REPLACE;
        if (dag != null && (replaces || startKey instanceof StartKey.Debounce)) {
            throw new InvalidRequestException(
                    "The run of DAG '%s' was started under the key '%s', and a DAG cannot be debounced or replace a run that has begun. Start a workflow under the key that calls the DAG."
                            .formatted(target.name(), startKey.key()));
        }
        if (handler != null && (replaces || handler.once())) {
            throw new InvalidRequestException(
                    "The call of '%s' was started under the key '%s'. A main handler runs once by itself, and a call cannot replace one that has begun: leave the key out."
                            .formatted(name(), startKey.key()));
        }
    }

    /** The tasks that start with this run. */
    public List<Task> tasks(NewRun run) {
        return dag == null ? List.of() : dag.apply(run);
    }

    /** The object that the run will call, or null. */
    public @Nullable ObjectCall object(StartOptions options) {
        return handler == null ? null : handler.call(key, options.delay().isPresent());
    }

    /**
     * The id that the caller or the handler has chosen for the run.
     *
     * @param prefix what the ids of calls of an object begin with
     */
    public Optional<RunId> id(StartOptions options, Function<ObjectKey, String> prefix) {
        if (handler == null || !handler.once()) {
            return options.id();
        }
        handler.requireNoId(options.id().isPresent());
        ObjectKey object = new ObjectKey(handler.object(), key);
        return Optional.of(ObjectHandler.mainId(prefix.apply(object), object));
    }

    /** The name that replays compare. */
    public String name() {
        return handler == null ? target.name() : "%s of '%s'".formatted(target.name(), key);
    }
}
