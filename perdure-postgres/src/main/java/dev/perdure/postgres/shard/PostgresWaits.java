package dev.perdure.postgres.shard;

import dev.perdure.RunId;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.CallWaits;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;

/** Reads which runs of this shard others wait for. */
final class PostgresWaits implements CallWaits {
    private final Database database;
    private final Query query;
    private final WaitsSql sql;

    PostgresWaits(Database database, Schema schema) {
        this.database = database;
        this.query = new Query(database);
        this.sql = new WaitsSql(schema);
    }

    @Override
    public List<Long> holders(long after, int limit) {
        return query.byIndex(
                sql.holders,
                parameters -> parameters.time(database.time()).number(after).integer(limit),
                row -> row.getLong("key"));
    }

    @Override
    public List<Wait> of(Collection<Long> waiting) {
        long[] keys = waiting.stream().mapToLong(Long::longValue).toArray();
        return query.byIndex(sql.waits, parameters -> parameters.longs(keys), PostgresWaits::read);
    }

    private static Wait read(ResultSet row) throws SQLException {
        return new Wait(
                new Life(row.getLong("waiting"), row.getInt("life")),
                Reason.valueOf(row.getString("reason")),
                awaited(row));
    }

    private static AwaitedRun awaited(ResultSet row) throws SQLException {
        String type = row.getString("object_type");
        return new AwaitedRun(
                new RunRef(RunId.of(row.getString("id")), row.getLong("key")),
                row.getInt("restarts"),
                Codes.state(row.getInt("state")),
                row.getString("definition"),
                type == null ? null : new ObjectKey(type, row.getString("object_key")),
                new Change.Seen(Results.time(row, "created_at"), Results.time(row, "changed_at")));
    }
}
