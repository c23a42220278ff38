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
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds calls of virtual objects that wait for each other. Only a new call that has to wait can close a cycle, so the
 * search follows the batch that made the call: if two calls are made at once, the one that commits last sees both.
 * Every process that finds a cycle breaks it at the same place, its youngest call. The search goes level by level, with
 * one query each.
 */
public final class CallCycleSearch {
    private final Database database;
    private final ObjectSql sql;

    CallCycleSearch(Database database, ObjectSql sql) {
        this.database = database;
        this.sql = sql;
    }

    /** A run on the path, and the key of the run that waits for it. */
    private record Step(long waits, long key, RunState state, CallCycle.Member member) {}

    /** The command that breaks the cycle of this waiting call, if it is part of one. */
    Optional<Change.Command> breaking(long newcomer) {
        Map<Long, Step> reached = new HashMap<>();
        Collection<Long> frontier = List.of(newcomer);
        while (!frontier.isEmpty() && !reached.containsKey(newcomer)) {
            Collection<Long> next = new ArrayList<>();
            for (Step step : waitsFor(frontier)) {
                if (reached.putIfAbsent(step.key(), step) == null) {
                    next.add(step.key());
                }
            }
            frontier = next;
        }
        return Optional.ofNullable(reached.get(newcomer)).map(last -> breaking(cycle(reached, last)));
    }

    private static List<Step> cycle(Map<Long, Step> reached, Step last) {
        Deque<Step> cycle = new ArrayDeque<>();
        Step step = last;
        do {
            cycle.addFirst(step);
            step = reached.get(step.waits());
        } while (step != null && step.key() != last.key());
        return List.copyOf(cycle);
    }

    private static Change.Command breaking(List<Step> cycle) {
        Step youngest = cycle.stream()
                .filter(step -> step.state() == RunState.PENDING)
                .max(Comparator.comparingLong(step -> Keys.number(step.key())))
                .orElseThrow();
        List<CallCycle.Member> members =
                new ArrayList<>(cycle.stream().map(Step::member).toList());
        members.addFirst(members.removeLast()); // from the new call on
        return new Change.Command(youngest.member().run(), Change.CommandKind.REFUSE, CallCycle.message(members));
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
