package dev.perdure.internal.dag;

import dev.perdure.RunId;
import dev.perdure.TypeRef;
import dev.perdure.dag.DagTask;
import dev.perdure.dag.Outputs;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.ResultUnavailableException;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.payload.PayloadCodec;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadPlace;
import java.lang.reflect.Type;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The outputs of tasks, kept as bytes until a caller asks for one.
 *
 * @param dag the DAG, which has their types
 * @param codec decodes them
 * @param run the run of the DAG
 * @param payloads the output of each task; null for a task that was skipped
 */
public record TaskOutputs(TypedDag dag, PayloadCodec codec, RunId run, Map<String, @Nullable Payload> payloads)
        implements Outputs {
    @Override
    public Set<String> tasks() {
        return Collections.unmodifiableSet(payloads.keySet());
    }

    @Override
    @SuppressWarnings({"unchecked", "NullAway"}) // decoded as the type of the task that returned it
    public <T extends @Nullable Object> T get(DagTask<T> task) {
        return (T) decoded(task.name(), dag.typeOf(task.name()));
    }

    @Override
    @SuppressWarnings("unchecked") // decoded as the type that the caller declared
    public <T> @Nullable T get(String task, TypeRef<T> type) {
        return (T) decoded(task, type.type());
    }

    private @Nullable Object decoded(String task, Type type) {
        if (!payloads.containsKey(task)) {
            if (!dag.tasks().contains(task)) {
                throw new InvalidRequestException("DAG '%s' has no task '%s'; it has %s."
                        .formatted(dag.name(), task, String.join(", ", dag.tasks())));
            }
            throw new ResultUnavailableException(
                    "Task '%s' of DAG '%s' has no output. See status() for its state.".formatted(task, dag.name()));
        }
        Payload payload = payloads.get(task);
        return payload == null
                ? null
                : Values.read(
                        codec.at(PayloadPlace.result(RunNames.task(run, task))),
                        payload,
                        type,
                        () -> "The output of task '%s' of DAG '%s'".formatted(task, dag.name()));
    }

    @Override
    public String toString() {
        return payloads.keySet().toString();
    }
}
