package dev.perdure.postgres;

import dev.perdure.spi.Leases;
import dev.perdure.spi.NewRun;
import dev.perdure.spi.WorkerId;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The narrow numbers that stand for workers in rows, as far as this store has met them. */
final class Workers {
    private final Database database;
    private final LeaseSql sql;
    private final ConcurrentMap<WorkerId, Integer> numbers = new ConcurrentHashMap<>();
    /** Those that have joined through this store. */
    private final ConcurrentMap<Integer, Leases.Joining> joined = new ConcurrentHashMap<>();

    Workers(Database database, LeaseSql sql) {
        this.database = database;
        this.sql = sql;
    }

    void joined(Leases.Joining joining, int number) {
        numbers.put(joining.id(), number);
        joined.put(number, joining);
    }

    void gone(WorkerId id) {
        Integer number = numbers.remove(id);
        if (number != null) {
            joined.remove(number);
        }
    }

    /** What a worker can run, if it has joined through this store. */
    @Nullable
    Predicate<NewRun> skills(int number) {
        Leases.Joining worker = joined.get(number);
        return worker == null
                ? null
                : run -> worker.definitions().contains(run.definition())
                        && (run.version() == null || run.version().equals(worker.version()));
    }

    /** The number of a worker, or null if none that lives has this id. A number once known may be that of the dead. */
    @Nullable
    Integer number(WorkerId id) {
        Integer known = numbers.get(id);
        return known != null ? known : lookedUp(id);
    }

    private @Nullable Integer lookedUp(WorkerId id) {
        Integer number = database.<@Nullable Integer>call(connection -> {
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
