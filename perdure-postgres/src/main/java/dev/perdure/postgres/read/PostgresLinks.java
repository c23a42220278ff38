package dev.perdure.postgres.read;

import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.spi.Runs.BelowPage;
import dev.perdure.spi.Runs.BelowPlace;
import dev.perdure.spi.Runs.TaskRow;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.Links;
import java.util.Collection;
import java.util.List;
import java.util.OptionalInt;

/** Reads what runs of other shards have started here. */
public final class PostgresLinks implements Links {
    private final Query query;
    private final LinksSql sql;
    private final PostgresRuns runs;
    private final StartedRuns started;

    public PostgresLinks(Database database, LinksSql sql, PostgresRuns runs) {
        this.query = new Query(database);
        this.sql = sql;
        this.runs = runs;
        this.started = new StartedRuns(database, sql.schema);
    }

    @Override
    public OptionalInt life(RunRef run) {
        return query.all(sql.life, parameters -> parameters.number(run.key()), row -> row.getInt("restarts")).stream()
                .mapToInt(Integer::intValue)
                .findFirst();
    }

    @Override
    public List<TaskRow> children(RunRef parent, int life) {
        return runs.startedRuns(
                sql.children,
                sql.childrenChanges,
                parameters -> parameters.number(parent.key()).integer(life));
    }

    @Override
    public BelowPage children(RunRef parent, int life, BelowPlace after, int limit) {
        return started.page(sql.nextChildren, parameters -> parameters.integer(life), parent, after, limit);
    }

    @Override
    public List<Long> tree(Collection<Long> tops) {
        return keys(sql.tree, tops);
    }

    @Override
    public List<Long> startedBy(Collection<Long> parents) {
        return keys(sql.startedBy, parents);
    }

    private List<Long> keys(String statement, Collection<Long> of) {
        long[] keys = of.stream().mapToLong(Long::longValue).toArray();
        return query.byIndex(statement, parameters -> parameters.longs(keys), row -> row.getLong("key"));
    }
}
