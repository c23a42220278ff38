package dev.perdure.memory;

import dev.perdure.queue.Placement;
import dev.perdure.queue.Queue;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.shard.KeyHomes;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Why no worker has taken a ready run, and why a run is pending or backs off. */
final class WaitReasons {
    /** How many of the runs that hold places are named. */
    private static final int NAMED = 3;

    private final Tables tables;
    private final MemoryQueues queues;

    WaitReasons(Tables tables, MemoryQueues queues) {
        this.tables = tables;
        this.queues = queues;
    }

    /** Why a run is ready; empty if it only waits for a worker with room. */
    Optional<String> of(Row row) {
        if (tables.workers.values().stream().noneMatch(worker -> worker.suits(row))) {
            return Optional.of("No live worker has the definition '%s'%s."
                    .formatted(
                            row.start.definition(),
                            row.start.version() == null ? "" : " in version '" + row.start.version() + "'"));
        }
        return allDrain(row)
                ? Optional.of(
                        "Every live worker that has the definition '%s' drains.".formatted(row.start.definition()))
                : ofQueue(row);
    }

    /** Whether there are workers for a run that is not pinned, and all of them drain. */
    boolean allDrain(Row row) {
        List<Tables.Worker> suiting = tables.workers.values().stream()
                .filter(worker -> worker.suits(row))
                .toList();
        return row.start.version() == null
                && !suiting.isEmpty()
                && suiting.stream().allMatch(worker -> worker.drains(row.start.definition()));
    }

    /** Why a run is pending. A run that replaces another has that as its reason already. */
    Optional<String> ofPending(Row row) {
        Row holder = tables.objects.holderBefore(row);
        if (holder != null) {
            return Optional.of(
                    held(holder, Objects.requireNonNull(row.start.object()).object()));
        }
        List<Row> open = row.premises.stream()
                .filter(premise -> !premise.state.isTerminal())
                .toList();
        return open.isEmpty()
                ? Optional.empty()
                : Optional.of("Waits for the end of %s%s."
                        .formatted(
                                open.stream()
                                        .limit(NAMED)
                                        .map(premise -> "'" + premise.ref.id() + "'")
                                        .collect(Collectors.joining(", ")),
                                open.size() > NAMED ? " and %s more".formatted(open.size() - NAMED) : ""));
    }

    private String held(Row holder, ObjectKey object) {
        Optional<String> why = switch (holder.state) {
            case READY -> of(holder);
            case PAUSED -> Optional.ofNullable(holder.reason);
            default -> Optional.empty();
        };
        return "Run '%s' holds the object '%s' with the key '%s' and is %s%s"
                .formatted(
                        holder.ref.id(),
                        object.type(),
                        object.key(),
                        holder.state,
                        why.map(reason -> ": " + reason).orElse("."));
    }

    /** Which attempt has failed last. */
    static Optional<String> ofBackOff(Row row) {
        return row.journal.descendingMap().values().stream()
                .map(Recorded::entry)
                .filter(entry -> entry.status() == Entry.Status.ATTEMPT)
                .findFirst()
                .map(entry -> "Attempt %s of %s '%s' failed."
                        .formatted(
                                entry.note(), entry.kind() == Entry.Kind.STEP ? "step" : "transaction", entry.name()));
    }

    private Optional<String> ofQueue(Row row) {
        String name = row.start.queue();
        MemoryQueue queue = queues.declared(name);
        if (queue != null && queue.paused != null) {
            return Optional.of("The queue '%s' is paused: %s".formatted(name, queue.paused));
        }
        if (tables.workers.values().stream().noneMatch(worker -> worker.serves(name))) {
            return Optional.of("No live worker takes runs from the queue '%s'.".formatted(name));
        }
        Placement placement = row.start.placement();
        if (!placement.required().isEmpty()
                && tables.workers.values().stream()
                        .filter(worker -> worker.serves(name) && worker.suits(row))
                        .noneMatch(worker -> placement.allows(worker.joining.labels()))) {
            return Optional.of(placement.missing(name));
        }
        @Nullable String key = row.start.queueKey();
        if (queue != null && key != null && queues.isCountedElsewhere(queue, key)) {
            return Optional.of(KeyHomes.reason(name, key));
        }
        Optional<String> full = queue == null || queues.holdsPlace(row) ? Optional.empty() : full(row, name, queue);
        return full.or(() -> preference(row));
    }

    private Optional<String> preference(Row row) {
        return tables.prefersUntil(row).isAfter(tables.now())
                ? Optional.of(row.start.placement().preference())
                : Optional.empty();
    }

    private Optional<String> full(Row row, String name, MemoryQueue queue) {
        return fullKey(row, queue)
                .or(() -> rate(row, queue))
                .or(() -> fullQueue(name, queue.limits()))
                .or(() -> fullWorkers(name, queue.limits()));
    }

    private Optional<String> fullKey(Row row, MemoryQueue queue) {
        String name = row.start.queue();
        @Nullable String key = row.start.queueKey();
        Queue limits = queue.limits();
        if (key == null || limits.perKey().isEmpty()) {
            return Optional.empty();
        }
        List<Row> holders = queues.placed(name, key).toList();
        int places = limits.perKey().getAsInt();
        return holders.size() < places
                ? Optional.empty()
                : Optional.of(
                        "The key '%s' of the queue '%s' is full: %s".formatted(key, name, taken(holders, places)));
    }

    private static Optional<String> rate(Row row, MemoryQueue queue) {
        if (!row.isNew()) {
            return Optional.empty();
        }
        String name = row.start.queue();
        @Nullable String key = row.start.queueKey();
        Optional<Instant> ofKey = key == null ? Optional.empty() : queue.keyRateFree(key);
        return ofKey.map(at ->
                        "The rate of the key '%s' of the queue '%s' allows no more before %s.".formatted(key, name, at))
                .or(() -> queue.rateFree()
                        .map(at -> "The rate of the queue '%s' allows no more before %s.".formatted(name, at)));
    }

    private Optional<String> fullQueue(String name, Queue limits) {
        if (limits.concurrency().isEmpty()) {
            return Optional.empty();
        }
        List<Row> holders = queues.placed(name).toList();
        int places = limits.concurrency().getAsInt();
        return holders.size() < places
                ? Optional.empty()
                : Optional.of("The queue '%s' is full: %s".formatted(name, taken(holders, places)));
    }

    private Optional<String> fullWorkers(String name, Queue limits) {
        if (limits.perWorker().isEmpty()) {
            return Optional.empty();
        }
        int most = limits.perWorker().getAsInt();
        boolean full = tables.workers.entrySet().stream()
                .filter(worker -> worker.getValue().serves(name))
                .allMatch(worker -> queues.heldBy(worker.getKey(), name) >= most);
        return full
                ? Optional.of("Every worker of the queue '%s' is at its limit of %s.".formatted(name, most))
                : Optional.empty();
    }

    private static String taken(List<Row> holders, int places) {
        if (holders.isEmpty()) {
            return "0 of %s places are taken on this shard.".formatted(places);
        }
        String first = holders.stream()
                .sorted(Comparator.comparing((Row row) -> row.createdAt).thenComparing(row -> row.ref.id()))
                .limit(NAMED)
                .map(row -> "'" + row.ref.id() + "'")
                .collect(Collectors.joining(", "));
        String more = holders.size() > NAMED ? " and %s more".formatted(holders.size() - NAMED) : "";
        return "%s of %s places are taken, by %s%s.".formatted(holders.size(), places, first, more);
    }
}
