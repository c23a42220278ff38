package dev.perdure.postgres.read;

import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.RunRef;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads the tasks and the children of runs one page at a time. */
final class StartedRuns {
    /** At how many runs a page looks at most, whether it shows them or not. */
    private static final int LOOKED_AT = 1_000;

    /** After how many runs before its tasks a page ends. A task that comes after more is a page by itself. */
    private static final int EDGES = 10_000;

    /**
     * A run that the page looks at.
     *
     * @param edges after how many runs it comes
     * @param wanted whether it is of the kind that is asked for
     */
    private record Next(Runs.BelowPlace place, int edges, boolean wanted) {}

    private record Row(long key, RunInfo info, List<Long> after) {}

    private final Database database;
    private final Query query;
    private final StartedRunsSql sql;

    StartedRuns(Database database, Schema schema) {
        this.database = database;
        this.query = new Query(database);
        this.sql = new StartedRunsSql(schema);
    }

    Runs.BelowPage tasks(RunRef run, Runs.BelowPlace after, int limit) {
        return page(sql.nextTasks, parameters -> {}, run, after, limit);
    }

    Runs.BelowPage children(RunRef run, Runs.BelowPlace after, int limit) {
        return page(sql.nextChildren, parameters -> parameters.number(run.key()), run, after, limit);
    }

    /**
     * A page of what a statement finds.
     *
     * @param ofMember the parameters of what is wanted
     */
    Runs.BelowPage page(String statement, Query.Binding ofMember, RunRef run, Runs.BelowPlace after, int limit) {
        return page(next(statement, ofMember, run, after), limit);
    }

    private List<Next> next(String statement, Query.Binding ofMember, RunRef run, Runs.BelowPlace after) {
        return query.byIndex(
                statement,
                parameters -> {
                    ofMember.bind(parameters);
                    parameters
                            .number(run.key())
                            .time(after.createdAt())
                            .number(after.key())
                            .integer(LOOKED_AT);
                },
                row -> new Next(
                        new Runs.BelowPlace(Results.time(row, "created_at"), row.getLong("key")),
                        row.getInt("edges"),
                        row.getBoolean("wanted")));
    }

    private Runs.BelowPage page(List<Next> looked, int limit) {
        List<Long> keys = new ArrayList<>();
        int seen = 0;
        long edges = 0;
        for (Next next : looked) {
            if (next.wanted()) {
                edges += next.edges();
                if (keys.size() == limit || (edges > EDGES && !keys.isEmpty())) {
                    break;
                }
                keys.add(next.place().key());
            }
            seen++;
        }
        boolean last = seen == looked.size() && seen < LOOKED_AT;
        return new Runs.BelowPage(
                below(keys),
                last ? Optional.empty() : Optional.of(looked.get(seen - 1).place()));
    }

    private List<Runs.Below> below(List<Long> keys) {
        if (keys.isEmpty()) {
            return List.of();
        }
        List<Row> rows = query.byIndex(
                sql.infos,
                parameters -> parameters.time(database.time()).longs(array(keys)),
                row -> new Row(row.getLong("key"), PostgresRuns.info(row), Results.longs(row, "after")));
        Map<Long, List<Runs.Entered>> histories = new HashMap<>();
        query.byIndex(
                sql.states,
                parameters -> parameters.longs(array(keys)),
                row -> histories
                        .computeIfAbsent(row.getLong("key"), none -> new ArrayList<>())
                        .add(new Runs.Entered(Codes.state(row.getInt("state")), Results.time(row, "at"), "")));
        Map<Long, RunId> ids = ids(rows);
        return rows.stream()
                .map(row -> new Runs.Below(
                        new RunRef(row.info().id(), row.key()),
                        row.info(),
                        row.after().stream()
                                .filter(ids::containsKey) // the others are removed already
                                .map(ids::get)
                                .toList(),
                        List.copyOf(histories.getOrDefault(row.key(), List.of()))))
                .toList();
    }

    /** The ids of the tasks that these come after. */
    private Map<Long, RunId> ids(List<Row> rows) {
        List<Long> keys =
                rows.stream().flatMap(row -> row.after().stream()).distinct().toList();
        Map<Long, RunId> ids = new HashMap<>();
        if (!keys.isEmpty()) {
            query.byIndex(
                    sql.ids,
                    parameters -> parameters.longs(array(keys)),
                    row -> ids.put(row.getLong("key"), RunId.of(row.getString("id"))));
        }
        return ids;
    }

    private static long[] array(Collection<Long> keys) {
        return keys.stream().mapToLong(Long::longValue).toArray();
    }
}
