package dev.perdure.postgres.write;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.write.change.Keys;
import dev.perdure.postgres.write.part.ObjectSql;
import dev.perdure.spi.change.CallCycle;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.ObjectKey;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds calls of virtual objects that wait for each other. Only a new call that has to wait can close a cycle, so the
 * search follows the batch that made the call: if two calls are made at once, the one that commits last sees both.
 * Every process that finds a cycle breaks it at the same place, its youngest call. The search begins at all calls of a batch
 * and goes level by level, with one query each, so its cost does not grow with the number of the calls.
 */
public final class CallCycleSearch {
    /** A search ends when it has read so many runs: what is beyond is found by one that begins elsewhere. */
    private static final int MOST_RUNS = 10_000;

    private final Database database;
    private final ObjectSql sql;

    CallCycleSearch(Database database, ObjectSql sql) {
        this.database = database;
        this.sql = sql;
    }

    /** A run that another one, which is given by its key, waits for. */
    private record Step(long waits, long key, RunState state, CallCycle.Member member) {}

    /** The commands that break the cycles of these waiting calls: one for all cycles that share runs. */
    List<Change> breaking(Collection<Long> newcomers) {
        Map<Long, List<Step>> waits = waits(newcomers);
        Set<Long> broken = new HashSet<>();
        List<Change> commands = new ArrayList<>();
        for (long newcomer : newcomers) {
            List<Step> cycle = broken.contains(newcomer) ? List.of() : cycle(newcomer, waits);
            if (cycle.stream().noneMatch(step -> broken.contains(step.key()))) {
                breaking(cycle).ifPresent(commands::add);
                cycle.forEach(step -> broken.add(step.key()));
            }
        }
        return commands;
    }

    /** What these calls wait for, and what that waits for, and so on, by the keys of those that wait. */
    private Map<Long, List<Step>> waits(Collection<Long> newcomers) {
        Map<Long, List<Step>> waits = new HashMap<>();
        Set<Long> seen = new HashSet<>(newcomers);
        Collection<Long> frontier = newcomers;
        while (!frontier.isEmpty() && seen.size() < MOST_RUNS) {
            Collection<Long> next = new ArrayList<>();
            for (Step step : waitsFor(frontier)) {
                waits.computeIfAbsent(step.waits(), unseen -> new ArrayList<>()).add(step);
                if (seen.add(step.key())) {
                    next.add(step.key());
                }
            }
            frontier = next;
        }
        return waits;
    }

    /** The shortest way from a call back to itself; empty if there is none. */
    private static List<Step> cycle(long newcomer, Map<Long, List<Step>> waits) {
        Map<Long, Step> reached = new HashMap<>();
        Deque<Long> frontier = new ArrayDeque<>(List.of(newcomer));
        while (!frontier.isEmpty() && !reached.containsKey(newcomer)) {
            for (Step step : waits.getOrDefault(frontier.remove(), List.of())) {
                if (reached.putIfAbsent(step.key(), step) == null) {
                    frontier.add(step.key());
                }
            }
        }
        Deque<Step> cycle = new ArrayDeque<>();
        Step step = reached.get(newcomer);
        while (step != null && (cycle.isEmpty() || step.key() != newcomer)) {
            cycle.addFirst(step);
            step = reached.get(step.waits());
        }
        return List.copyOf(cycle);
    }

    private static Optional<Change> breaking(List<Step> cycle) {
        List<CallCycle.Member> members =
                new ArrayList<>(cycle.stream().map(Step::member).toList());
        return cycle.stream()
                .filter(step -> step.state() == RunState.PENDING) // and not paused meanwhile
                .max(Comparator.comparingLong(step -> Keys.number(step.key())))
                .map(youngest -> {
                    members.addFirst(members.removeLast()); // from the new call on
                    return new Change.Command(
                            youngest.member().run(), Change.CommandKind.REFUSE, CallCycle.message(members));
                });
    }

    private List<Step> waitsFor(Collection<Long> keys) {
        return database.call(connection -> {
            try (PreparedStatement statement = Database.planAnew(connection, sql.waitsFor)) {
                new Parameters(statement)
                        .longs(keys.stream().mapToLong(Long::longValue).toArray());
                try (ResultSet rows = statement.executeQuery()) {
                    List<Step> steps = new ArrayList<>();
                    while (rows.next()) {
                        steps.add(step(rows));
                    }
                    return steps;
                }
            }
        });
    }

    private static Step step(ResultSet row) throws SQLException {
        String type = row.getString("object_type");
        ObjectKey object = type == null ? null : new ObjectKey(type, row.getString("object_key"));
        CallCycle.Member member =
                new CallCycle.Member(RunId.of(row.getString("id")), row.getString("definition"), object);
        return new Step(row.getLong("waits"), row.getLong("key"), Codes.state(row.getInt("state")), member);
    }

    /** Calls that have waited for so long that the process that made them may have died before its search. */
    List<Long> longWaiting() {
        return database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.longWaiting)) {
                new Parameters(statement).time(database.time());
                try (ResultSet rows = statement.executeQuery()) {
                    List<Long> keys = new ArrayList<>();
                    while (rows.next()) {
                        keys.add(rows.getLong("key"));
                    }
                    return keys;
                }
            }
        });
    }
}
