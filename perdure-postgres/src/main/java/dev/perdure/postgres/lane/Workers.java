package dev.perdure.postgres.lane;

import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Json;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.spi.Leases;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.version.WorkerInfo.Heap;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The small numbers that represent workers in rows, as far as this store knows them. */
public final class Workers {
    private final Database database;
    private final LeaseSql sql;
    private final Lanes lanes;
    private final Backends backends;
    private final ConcurrentMap<WorkerId, Integer> numbers = new ConcurrentHashMap<>();
    /** The workers that have joined through this store. */
    private final ConcurrentMap<Integer, Leases.Joining> joined = new ConcurrentHashMap<>();

    public Workers(Database database, LeaseSql sql, Backends backends) {
        this.database = database;
        this.sql = sql;
        this.lanes = new Lanes(database, sql);
        this.backends = backends;
    }

    /** Their lanes. */
    public Lanes lanes() {
        return lanes;
    }

    /** Registers a worker and returns the store's time. */
    public Instant join(Leases.Joining joining) {
        return database.callFirst(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.join)) {
                new Parameters(statement)
                        .object(joining.id().value())
                        .texts(joining.definitions().toArray(String[]::new))
                        .text(joining.version())
                        .texts(joining.queues().toArray(String[]::new))
                        .text(Json.object(joining.labels()))
                        .number(joining.lease().toNanos() / 1_000)
                        .integer(joining.lanes())
                        .texts(joining.former().stream().map(WorkerId::toString).toArray(String[]::new))
                        .time(database.time());
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    int number = row.getInt("number");
                    numbers.put(joining.id(), number);
                    joined.put(number, joining);
                    joining.former().stream()
                            .map(numbers::get)
                            .filter(Objects::nonNull)
                            .forEach(backends::left);
                    return Results.time(row, "at");
                }
            }
        });
    }

    /** Renews a lease. Returns the store's time, or null if the worker is dead. */
    @Nullable
    public Instant renew(WorkerId id, Heap heap) {
        Integer number = number(id);
        if (number == null) {
            return null;
        }
        return database.<@Nullable Instant>callFirst(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.renew)) {
                new Parameters(statement)
                        .ints(backends.lost())
                        .number(heap.used())
                        .number(heap.max())
                        .integer(number)
                        .time(database.time());
                try (ResultSet row = statement.executeQuery()) {
                    return row.next() ? Results.time(row, "at") : null;
                }
            }
        });
    }

    /** Ends a lease, and with it all lanes. */
    public void leave(WorkerId id) {
        Integer number = number(id);
        if (number == null) {
            return;
        }
        database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.leave)) {
                new Parameters(statement).integer(number);
                return statement.execute();
            }
        });
        numbers.remove(id);
        joined.remove(number);
        backends.left(number);
    }

    /** Whether a worker has joined through this store and has not left. */
    public boolean isHere(WorkerId id) {
        Integer number = numbers.get(id);
        return number != null && joined.containsKey(number);
    }

    /** Other workers may see when the process of this worker, which has joined through this store, has died. */
    public void watch(WorkerId id) {
        Integer number = numbers.get(id);
        if (number != null) {
            backends.joined(number);
        }
    }

    /**
     * The runs that a worker may take over, if it has joined through this store: those whose definition it has. A run
     * that is placed begins only by a start or a poll that checks labels.
     */
    @Nullable
    public Predicate<NewRun> skills(int number) {
        Leases.Joining worker = joined.get(number);
        return worker == null
                ? null
                : run -> worker.definitions().contains(run.definition())
                        && (run.version() == null || run.version().equals(worker.version()))
                        && run.placement().isAnywhere();
    }

    /**
     * The number of a worker, or null if no live worker has this id. A number that is already known may belong to a
     * dead worker.
     */
    @Nullable
    public Integer number(WorkerId id) {
        Integer known = numbers.get(id);
        return known != null ? known : lookedUp(id);
    }

    private @Nullable Integer lookedUp(WorkerId id) {
        Integer number = database.<@Nullable Integer>callFirst(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.number)) {
                new Parameters(statement).object(id.value());
                try (ResultSet row = statement.executeQuery()) {
                    return row.next() ? row.getInt("number") : null;
                }
            }
        });
        if (number != null) {
            numbers.put(id, number);
        }
        return number;
    }
}
