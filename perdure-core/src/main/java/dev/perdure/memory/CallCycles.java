package dev.perdure.memory;

import dev.perdure.RunState;
import dev.perdure.spi.change.CallCycle;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.Parent;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds calls that wait for each other. A pending call waits for the run that holds its object, also while it is
 * paused. Any other run waits for the runs that it has called, but not for those that it has only sent. Only a new call
 * can close a cycle.
 */
final class CallCycles {
    private final Tables tables;

    CallCycles(Tables tables) {
        this.tables = tables;
    }

    /** If this call is part of a cycle, ends the youngest call of that cycle. */
    void refuse(Row newcomer) {
        List<Row> cycle = newcomer.state == RunState.PENDING ? through(newcomer) : List.of();
        cycle.stream()
                .filter(row -> row.state == RunState.PENDING)
                .max(Comparator.comparingLong(row -> row.ref.key()))
                .ifPresent(youngest -> tables.fail(
                        youngest,
                        CallCycle.message(
                                cycle.stream().map(CallCycles::described).toList())));
    }

    private static CallCycle.Member described(Row row) {
        ObjectCall call = row.start.object();
        return new CallCycle.Member(row.ref.id(), row.start.definition(), call == null ? null : call.object());
    }

    private List<Row> through(Row newcomer) {
        Map<Row, Row> cameFrom = new HashMap<>();
        Deque<Row> frontier = new ArrayDeque<>(List.of(newcomer));
        while (!frontier.isEmpty()) {
            Row row = frontier.remove();
            for (Row next : waitsFor(row)) {
                if (next == newcomer) {
                    return path(cameFrom, row);
                }
                if (cameFrom.putIfAbsent(next, row) == null) {
                    frontier.add(next);
                }
            }
        }
        return List.of();
    }

    private static List<Row> path(Map<Row, Row> cameFrom, Row last) {
        Deque<Row> path = new ArrayDeque<>();
        for (Row row = last; row != null; row = cameFrom.get(row)) {
            path.addFirst(row);
        }
        return List.copyOf(path);
    }

    private Collection<Row> waitsFor(Row row) {
        if (row.state == RunState.PENDING || (row.state == RunState.PAUSED && tables.objects.mustWait(row))) {
            return tables.objects.holder(row).stream().toList();
        }
        return tables.byKey.values().stream()
                .filter(child -> !child.state.isTerminal() && isCalledBy(child, row))
                .toList();
    }

    private static boolean isCalledBy(Row child, Row row) {
        Parent parent = child.start.parent();
        return parent != null && parent.answers() && parent.run().equals(row.ref);
    }
}
