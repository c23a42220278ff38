package dev.perdure.internal.engine;

import dev.perdure.GraphEvent;
import dev.perdure.GraphStatus;
import dev.perdure.RecordedException;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.TaskStatus;
import dev.perdure.internal.dag.Graph;
import dev.perdure.internal.dag.RunNames;
import dev.perdure.internal.dag.TaskOutputs;
import dev.perdure.internal.failure.Failure;
import dev.perdure.spi.Codec;
import dev.perdure.spi.Entry;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Payload;
import dev.perdure.spi.Recorded;
import dev.perdure.spi.RunRef;
import dev.perdure.spi.Runs;
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

/** Makes of rows and journals what people see of the run of a graph. */
final class GraphReader {
    private static final int PAGE_BYTES = 256 * 1024;

    private final Settings settings;
    private final Codec codec;
    private final Graph graph;

    GraphReader(Settings settings, Graph graph) {
        this.settings = settings;
        this.codec = settings.rules().codec();
        this.graph = graph;
    }

    /** The run with its tasks, and with those handlers that have begun: these come after what no task comes after. */
    GraphStatus read(RunInfo run, List<Runs.TaskRow> rows, List<Runs.TaskRow> handlers) {
        Map<RunRef, Journals.Page> journals = journals(rows, handlers);
        List<TaskStatus> tasks = new ArrayList<>();
        List<GraphEvent> events = new ArrayList<>();
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
        events.sort(Comparator.comparing(GraphEvent::at));
        return new GraphStatus(run, tasks, events, new TaskOutputs(graph, codec, outputs));
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

    /** A task's own body is the step that has the task's name. */
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
                state == RunState.FAILED ? error(row.outcome()) : Optional.empty());
    }

    private static Optional<Instant> first(Runs.TaskRow row, RunState state) {
        return row.history().stream()
                .filter(entered -> entered.state() == state)
                .map(Runs.Entered::at)
                .findFirst();
    }

    private Optional<RecordedException> error(Payload outcome) {
        return outcome.size() > 0 && codec.decode(outcome, Failure.class) instanceof Failure failure
                ? Optional.of(failure.toException())
                : Optional.empty();
    }

    private List<GraphEvent> events(Runs.TaskRow row, List<Recorded> attempts) {
        List<GraphEvent> events = new ArrayList<>();
        for (Runs.Entered entered : row.history()) {
            events.add(new GraphEvent(entered.at(), nameOf(row), what(entered.state()), entered.reason()));
        }
        for (Recorded attempt : attempts) {
            if (attempt.entry().status() == Entry.Status.ATTEMPT) {
                events.add(new GraphEvent(
                        attempt.at(),
                        nameOf(row),
                        GraphEvent.What.RETRIED,
                        FailedBodies.reason(codec, attempt.entry())));
            }
        }
        events.sort(Comparator.comparing(GraphEvent::at));
        return events;
    }

    private static GraphEvent.What what(RunState state) {
        return switch (state) {
            case PENDING -> GraphEvent.What.PENDING;
            case READY -> GraphEvent.What.QUEUED;
            case RUNNING -> GraphEvent.What.STARTED;
            case SUSPENDED, BACKING_OFF -> GraphEvent.What.WAITING;
            case PAUSED -> GraphEvent.What.PAUSED;
            case COMPLETED -> GraphEvent.What.COMPLETED;
            case FAILED -> GraphEvent.What.FAILED;
            case CANCELLED -> GraphEvent.What.CANCELLED;
            case SKIPPED -> GraphEvent.What.SKIPPED;
        };
    }
}
