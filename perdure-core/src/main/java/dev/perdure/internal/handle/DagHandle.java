package dev.perdure.internal.handle;

import dev.perdure.RunState;
import dev.perdure.dag.DagRun;
import dev.perdure.dag.DagStatus;
import dev.perdure.dag.Outputs;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.RecordedException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.TasksFailedException;
import dev.perdure.internal.dag.LeafOutputs;
import dev.perdure.internal.dag.TaskOutputs;
import dev.perdure.internal.dag.TypedDag;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.payload.PayloadPlace;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A handle to the run of a DAG. */
public final class DagHandle<O extends @Nullable Object> extends RunHandle<O> implements DagRun<O> {
    private final TypedDag dag;
    private final Services services;

    public DagHandle(RunRef ref, TypedDag dag, Services services) {
        super(ref, dag.target().resultType(), services);
        this.dag = dag;
        this.services = services;
    }

    public TypedDag dag() {
        return dag;
    }

    @Override
    @SuppressWarnings("unchecked") // a DAG without a task as its result gives the outputs of its leaves
    O decoded(Payload outcome) {
        if (dag.resultTask().isPresent()) {
            return super.decoded(outcome);
        }
        Map<String, @Nullable Payload> payloads = new LinkedHashMap<>();
        Object leaves = services.settings()
                .rules()
                .codec()
                .at(PayloadPlace.result(id()))
                .decode(outcome, LeafOutputs.class);
        if (leaves instanceof LeafOutputs outputs) {
            outputs.byTask().forEach((task, bytes) -> payloads.put(task, bytes == null ? null : new Payload(bytes)));
        }
        return (O) new TaskOutputs(dag, services.settings().rules().codec().transforming(null), id(), payloads);
    }

    @Override
    RunFailedException failure(Runs.Ended ended) {
        RunFailedException plain = super.failure(ended);
        Throwable cause = plain.getCause();
        if (ended.state() != RunState.FAILED || isDeadline(cause)) {
            return plain;
        }
        String message = cause == null ? ended.reason() : String.valueOf(cause.getMessage());
        return new RunFailedException(
                id(),
                ended.state(),
                String.valueOf(plain.getMessage()),
                new TasksFailedException(message, status().errors()));
    }

    private static boolean isDeadline(@Nullable Throwable cause) {
        return cause instanceof RecordedException recorded
                && recorded.type().equals(DeadlineExceededException.class.getName());
    }

    @Override
    public DagStatus status() {
        return new DagReader(services.settings(), dag).read(info(), rows(), handlers());
    }

    /** The handler that it started when its tasks had ended. */
    private List<Runs.TaskRow> handlers() {
        return dag.hasHandlers() ? services.settings().store().runs().children(ref()) : List.of();
    }

    private List<Runs.TaskRow> rows() {
        return services.settings().store().runs().tasks(ref());
    }

    @Override
    public Outputs outputs(Duration timeout) {
        try {
            var unused = result(timeout);
        } catch (RunFailedException ended) {
            return status().outputs();
        }
        return status().outputs();
    }

    // ---- repair

    @Override
    public void retryFailed() {
        new TaskReruns(services).failed(ref());
    }

    @Override
    public void rerun(String task) {
        new TaskReruns(services).of(ref(), task);
    }

    @Override
    public String toString() {
        return "DagRun[%s of %s]".formatted(id(), dag.name());
    }
}
