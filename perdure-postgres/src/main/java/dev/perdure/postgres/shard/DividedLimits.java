package dev.perdure.postgres.shard;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.write.part.Pieces;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;

/**
 * What moves have to respect so that all shards together keep the limits of queues and limiters. Each shard has a share of a
 * limit as its own limit, and notes by how many shards the limit was divided.
 */
public final class DividedLimits {
    /** Limits that were divided by another number of shards: then the shares are not those of these shards. */
    private static final String STALE = """
            SELECT kind, name
            FROM (
                SELECT 'queue' AS kind, name, declared, changed FROM ${schema}.queue
                UNION ALL
                SELECT 'limiter', name, declared, changed FROM ${schema}.limiter
            ) l
            CROSS JOIN LATERAL (VALUES (declared), (changed)) AS s (settings)
            WHERE jsonb_exists_any(settings, '{concurrency,per_worker,per_key,burst,burst_per_key,rate,rate_per_key}')
              AND COALESCE(settings->>'shards', '1') <> ?::text
            UNION ALL
            SELECT lower(kind), name FROM ${schema}.share WHERE NOT settled
            ORDER BY kind, name
            LIMIT 1
            """;

    /**
     * Limits of which a shard has given more than its share, because they were divided after that. If a partition moved then,
     * the other shards could give all of theirs, and the sum would exceed the limit. Limits of keys and of workers are not divided.
     */
    private static final String EXCEEDED = """
            WITH limited AS MATERIALIZED (
                SELECT name, limits, COALESCE(limits->>'counting', 'BEGUN') = 'BEGUN' AS begun
                FROM (SELECT name, declared || changed AS limits FROM ${schema}.queue) q
            ), given (kind, name, what, amount, share) AS (
                SELECT 'queue', name, 'places', cardinality(${schema}.place_holders(name, NULL, begun)),
                       NULLIF(limits->>'concurrency', 'none')::int
                FROM limited
                UNION ALL
                SELECT 'queue', name, 'units of the rate',
                       sum(${schema}.units_in_window(r.units, ${schema}.stretch_end(r.ended_at, r.since, r.expires_at), r.heavy, w.most, w.period, now())),
                       w.most
                FROM limited JOIN ${schema}.queue_rate r ON r.queue = name AND r.queue_key = '' AND r.expires_at > now()
                CROSS JOIN LATERAL (
                    SELECT ${schema}.window_units(limits->>'rate', limits->>'burst'), ${schema}.window_period(limits->>'rate', limits->>'burst')
                ) AS w (most, period)
                GROUP BY name, w.most
                UNION ALL
                SELECT 'limiter', l.name, 'permits', cardinality(${schema}.permit_holders(l.name)),
                       NULLIF((declared || changed)->>'concurrency', 'none')::int
                FROM ${schema}.limiter l
                UNION ALL
                SELECT 'limiter', l.name, 'units of the rate', sum(r.units),
                       ${schema}.window_units((declared || changed)->>'rate', (declared || changed)->>'burst')
                FROM ${schema}.limiter l JOIN ${schema}.limiter_rate r ON r.limiter = l.name AND r.expires_at > now()
                GROUP BY l.name, declared, changed
            )
            SELECT kind, name, what, amount, share FROM given WHERE amount > share ORDER BY kind, name, what LIMIT 1
            """;

    /**
     * Runs that hold places and keep them wherever they are. If they moved, the source would give their places to other
     * runs. Runs that only count while they are at work need a place of the target before they go on.
     */
    private static final String PLACES = """
            SELECT s.queue, count(*) AS runs, min(r.id) AS run
            FROM ${schema}.slot s
            JOIN ${schema}.run r ON r.key = s.key AND r.partition = s.partition
            JOIN ${schema}.queue q ON q.name = s.queue
            CROSS JOIN LATERAL (SELECT q.declared || q.changed AS limits) l
            WHERE s.partition = ? AND r.state BETWEEN ${READY} AND ${BACKING_OFF}
              AND COALESCE(limits->>'counting', 'BEGUN') = 'BEGUN'
              AND NULLIF(limits->>'concurrency', 'none') IS NOT NULL
            GROUP BY s.queue
            ORDER BY s.queue
            LIMIT 1
            """;

    /**
     * Runs that hold places of a key and would be parted from it: those of this partition whose keys are in others, and those of
     * others whose keys are in this one. The places of all other keys move with their partition.
     */
    private static final String PARTED = """
            SELECT s.queue, s.queue_key, r.id AS run
            FROM (
                SELECT * FROM ${schema}.slot
                WHERE slot.partition = ?::smallint AND slot.queue_key <> '' AND ${schema}.key_partition(slot.queue_key) <> ?
                UNION ALL
                SELECT * FROM ${schema}.slot
                WHERE slot.partition = ANY (ARRAY(SELECT n::smallint FROM generate_series(0, 255) AS n WHERE n <> ?))
                  AND slot.queue_key <> '' AND ${schema}.key_partition(slot.queue_key) = ?
            ) s
            JOIN ${schema}.run r ON r.key = s.key AND r.partition = s.partition
            JOIN ${schema}.queue q ON q.name = s.queue
            CROSS JOIN LATERAL (SELECT q.declared || q.changed AS limits) l
            WHERE r.state BETWEEN ${READY} AND ${BACKING_OFF} AND NULLIF(limits->>'whole:per_key', 'none') IS NOT NULL
            ORDER BY s.queue, s.queue_key, r.id COLLATE "C"
            LIMIT 1
            """;

    private DividedLimits() {}

    /** Refuses a move while a limit is divided by another number of shards. */
    public static void requireDivided(Collection<ShardServer> shards) {
        for (ShardServer shard : shards) {
            requireDivided(shard, shards.size());
        }
    }

    /** Refuses a move while a shard has given more than its share. Runs that have just moved are soon taken over. */
    public static void requireWithinShares(Collection<ShardServer> shards) {
        shards.forEach(DividedLimits::requireWithinShares);
    }

    private static void requireDivided(ShardServer shard, int count) {
        shard.inTransaction(connection -> {
            try (PreparedStatement statement =
                    connection.prepareStatement(shard.schema().sql(STALE))) {
                new Parameters(statement).text(String.valueOf(count));
                try (ResultSet row = statement.executeQuery()) {
                    if (row.next()) {
                        throw new InvalidRequestException(
                                "The limits of the %s '%s' on shard '%s' are not divided by the %s shards that were given, so no partition moves. Start the processes with the same shards, or set limits of at least %s."
                                        .formatted(
                                                row.getString("kind"),
                                                row.getString("name"),
                                                shard.name(),
                                                count,
                                                count));
                    }
                    return true;
                }
            }
        });
    }

    private static void requireWithinShares(ShardServer shard) {
        shard.inTransaction(connection -> {
            try (PreparedStatement statement =
                            connection.prepareStatement(shard.schema().sql(EXCEEDED));
                    ResultSet row = statement.executeQuery()) {
                if (row.next()) {
                    throw new InvalidRequestException(
                            "Shard '%s' has given %s %s of the %s '%s', and its share is %s, so no partition moves: the other shards would give theirs too. Move partitions when enough of those runs have ended or, if it is a rate, when its period is over."
                                    .formatted(
                                            shard.name(),
                                            row.getLong("amount"),
                                            row.getString("what"),
                                            row.getString("kind"),
                                            row.getString("name"),
                                            row.getLong("share")));
                }
                return true;
            }
        });
    }

    /** Refuses a partition whose runs hold places that do not move. */
    static void requireNoPlaces(ShardServer source, Connection connection, int partition) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(Pieces.sql(source.schema(), PLACES))) {
            new Parameters(statement).integer(partition);
            try (ResultSet row = statement.executeQuery()) {
                if (row.next()) {
                    throw new InvalidRequestException(
                            "Partition %s cannot be moved now: %s runs of it have begun in the queue '%s', which has limits, such as '%s', and each shard counts its own. Move the partition when they have ended, or let the queue count only runs that are at work."
                                    .formatted(
                                            partition,
                                            row.getLong("runs"),
                                            row.getString("queue"),
                                            row.getString("run")));
                }
            }
        }
        try (PreparedStatement statement = connection.prepareStatement(Pieces.sql(source.schema(), PARTED))) {
            new Parameters(statement)
                    .integer(partition)
                    .integer(partition)
                    .integer(partition)
                    .integer(partition);
            try (ResultSet row = statement.executeQuery()) {
                if (row.next()) {
                    throw new InvalidRequestException(
                            "Partition %s cannot be moved now: the run '%s' has begun in the queue '%s', which limits keys, and its id leads to another partition than its key '%s', so that one of both would stay. Move the partition when the run has ended."
                                    .formatted(
                                            partition,
                                            row.getString("run"),
                                            row.getString("queue"),
                                            row.getString("queue_key")));
                }
            }
        }
    }
}
