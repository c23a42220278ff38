package dev.perdure.internal.handle;

import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.dag.DagEvent;
import dev.perdure.dag.DagStatus;
import dev.perdure.dag.TaskStatus;
import dev.perdure.error.RecordedException;
import dev.perdure.internal.dag.RunNames;
import dev.perdure.internal.dag.TaskOutputs;
import dev.perdure.internal.dag.TypedDag;
import dev.perdure.internal.failure.Failure;
import dev.perdure.internal.payload.PayloadCodec;
import dev.perdure.internal.settings.Settings;
import dev.perdure.spi.Codec;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.payload.PayloadPlace;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Builds the status of a DAG's run from rows and journals. */
final class DagReader {
    private static final int PAGE_BYTES = 256 * 1024;

    private final Settings settings;
    private final PayloadCodec codec;
    private final TypedDag dag;

    DagReader(Settings settings, TypedDag dag) {
        this.settings = settings;
        this.codec = settings.rules().codec();
        this.dag = dag;
    }

    /** The run with its tasks and with the handlers that have begun. A handler comes after the leaves. */
    DagStatus read(RunInfo run, List<Runs.TaskRow> rows, List<Runs.TaskRow> handlers) {
        Map<RunRef, Journals.Page> journals = journals(rows, handlers);
        List<TaskStatus> tasks = new ArrayList<>();
        List<DagEvent> events = new ArrayList<>();
        Map<String, @Nullable Payload> outputs = new LinkedHashMap<>();
        for (Runs.TaskRow row : rows) {
            List<Recorded> attempts = failedAttempts(row, journals.getOrDefault(row.run(), Journals.Page.EMPTY));
            tasks.add(status(row, named(rows, row.after()), attempts.size()));
            events.addAll(events(row, attempts));
            RunState state = row.info().state();
            if (state == RunState.COMPLETED || state == RunState.SKIPPED) {
                outputs.put(nameOf(row), state == RunState.COMPLETED ? row.outcome() : null);
            }
        }
        for (Runs.TaskRow row : handlers) {
            List<Recorded> attempts = failedAttempts(row, journals.getOrDefault(row.run(), Journals.Page.EMPTY));
            tasks.add(status(row, leaves(rows), attempts.size()));
            events.addAll(events(row, attempts));
        }
        events.sort(Comparator.comparing(DagEvent::at));
        return new DagStatus(run, tasks, events, new TaskOutputs(dag, codec, run.id(), outputs));
    }

    private Map<RunRef, Journals.Page> journals(List<Runs.TaskRow> rows, List<Runs.TaskRow> handlers) {
        List<RunRef> begun = Stream.concat(rows.stream(), handlers.stream())
                .filter(row -> row.info().state() != RunState.PENDING)
                .map(Runs.TaskRow::run)
                .toList();
        return settings.store().journals().readFirst(begun, PAGE_BYTES);
    }

    private static String nameOf(Runs.TaskRow row) {
        return RunNames.taskOf(row.info().definition());
    }

    private static List<String> named(List<Runs.TaskRow> rows, Collection<Integer> places) {
        return places.stream().map(place -> nameOf(rows.get(place))).toList();
    }

    private static List<String> leaves(List<Runs.TaskRow> rows) {
        Set<Integer> places = IntStream.range(0, rows.size()).boxed().collect(Collectors.toCollection(TreeSet::new));
        rows.forEach(row -> places.removeAll(row.after()));
        return named(rows, places);
    }

    /** A task's own body is the step with the task's name. */
    private static List<Recorded> failedAttempts(Runs.TaskRow row, Journals.Page journal) {
        return journal.entries().stream()
                .filter(recorded -> {
                    Entry entry = recorded.entry();
                    return FailedBodies.isOne(entry)
                            && entry.kind() == Entry.Kind.STEP
                            && entry.name().equals(nameOf(row));
                })
                .toList();
    }

    private TaskStatus status(Runs.TaskRow row, List<String> after, int failedAttempts) {
        RunState state = row.info().state();
        boolean oneMore = state == RunState.COMPLETED || state == RunState.RUNNING;
        return new TaskStatus(
                nameOf(row),
                state,
                after,
                failedAttempts + (oneMore ? 1 : 0),
                first(row, RunState.RUNNING),
                state.isTerminal() ? Optional.of(row.info().changedAt()) : Optional.empty(),
                row.info().reason(),
                state == RunState.FAILED ? error(row) : Optional.empty());
    }

    private static Optional<Instant> first(Runs.TaskRow row, RunState state) {
        return row.history().stream()
                .filter(entered -> entered.state() == state)
                .map(Runs.Entered::at)
                .findFirst();
    }

    private Optional<RecordedException> error(Runs.TaskRow row) {
        Codec here = codec.at(PayloadPlace.result(row.run().id()));
        return row.outcome().size() > 0 && here.decode(row.outcome(), Failure.class) instanceof Failure failure
                ? Optional.of(failure.toException())
                : Optional.empty();
    }

    private Codec codecOf(Runs.TaskRow row, Entry entry) {
        return codec.at(PayloadPlace.entry(row.run().id(), entry.position()));
    }

    private List<DagEvent> events(Runs.TaskRow row, List<Recorded> attempts) {
        List<DagEvent> events = new ArrayList<>();
        for (Runs.Entered entered : row.history()) {
            events.add(new DagEvent(entered.at(), nameOf(row), what(entered.state()), entered.reason()));
        }
        for (Recorded attempt : attempts) {
            if (attempt.entry().status() == Entry.Status.ATTEMPT) {
                events.add(new DagEvent(
                        attempt.at(),
                        nameOf(row),
                        DagEvent.What.RETRIED,
                        FailedBodies.reason(codecOf(row, attempt.entry()), attempt.entry())));
            }
        }
        events.sort(Comparator.comparing(DagEvent::at));
        return events;
    }

    private static DagEvent.What what(RunState state) {
        return switch (state) {
            case PENDING -> DagEvent.What.PENDING;
            case READY -> DagEvent.What.QUEUED;
            case RUNNING -> DagEvent.What.STARTED;
            case SUSPENDED, BACKING_OFF -> DagEvent.What.WAITING;
            case PAUSED -> DagEvent.What.PAUSED;
            case COMPLETED -> DagEvent.What.COMPLETED;
            case FAILED -> DagEvent.What.FAILED;
            case CANCELLED -> DagEvent.What.CANCELLED;
            case SKIPPED -> DagEvent.What.SKIPPED;
        };
    }
}
