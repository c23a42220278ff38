package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.lane.Sending;
import dev.perdure.postgres.write.change.Batch;
import dev.perdure.postgres.write.change.Elsewhere;
import dev.perdure.spi.change.EndReport;
import java.sql.SQLException;

/**
 * The statements of a batch about runs of other shards. The rules of {@link LedgerSql} apply. A database that is the whole
 * store never sends them.
 */
public final class ElsewhereSql {
    /** Keeps what transitions send, in their order. The right to it is that of {@link MailSql}. */
    private static final String SEND = """
            WITH sent AS (
                INSERT INTO ${schema}.outgoing (token, life, to_partition, partition, change, payload)
                SELECT g.token, r.restarts, g.to_partition, r.partition, g.change, g.payload
                FROM ${sends}
                CROSS JOIN LATERAL (SELECT * FROM ${schema}.run WHERE run.key = g.key OFFSET 0) r
                WHERE ${lane_exists}
                  AND (g.epoch IS NULL OR r.state = ${RUNNING} AND r.epoch = g.epoch AND r.owner = ?)
                ORDER BY g.ordinal
                ON CONFLICT (token) DO NOTHING
                RETURNING 1
            )
            SELECT count(*) FROM sent
            """;

    /** Keeps the parents of runs that this batch has started. A run that existed before has another key. */
    private static final String LINK = """
            WITH linked AS (
                INSERT INTO ${schema}.parent_elsewhere (key, parent_key, position, life, partition, answers, parent, created_at)
                SELECT r.key, g.parent_key, g.position, g.life, r.partition, g.answers, g.parent, r.created_at
                FROM ${links}
                CROSS JOIN LATERAL (SELECT key, partition, created_at FROM ${schema}.run WHERE run.key = g.key OFFSET 0) r
                ON CONFLICT DO NOTHING
                RETURNING 1
            )
            SELECT count(*) FROM linked
            """;

    /** Keeps the outcomes of the runs among these that have ended and whose parents are on other shards: see {@link MailSql}. */
    private static final String TELL = """
            WITH child AS MATERIALIZED (
                SELECT moved.key FROM unnest(?::bigint[]) AS moved (key)
                UNION
                SELECT r.key
                FROM unnest(?::text[]) AS commanded (id)
                CROSS JOIN LATERAL (SELECT key FROM ${schema}.run WHERE run.id = commanded.id OFFSET 0) r
            ), told AS (
                INSERT INTO ${schema}.outgoing (
                    token, life, to_partition, partition, to_run, position, channel, status, name, text, payload)
                SELECT t.token, CASE WHEN l.reports THEN ${ANY_LIFE} ELSE l.life END, l.parent_key & 255, c.partition, l.parent,
                       l.position, CASE WHEN l.reports THEN ${MESSAGE} ELSE ${ANSWER} END,
                       CASE WHEN l.reports OR c.state = ${COMPLETED} THEN ${VALUE} ELSE ${FAILURE} END,
                       CASE WHEN l.reports THEN ${report_topic} ELSE '' END,
                       CASE WHEN l.reports OR c.state = ${COMPLETED} THEN ''
                            ELSE ${schema}.state_name(c.state) || ': ' || COALESCE(c.reason, '') END,
                       CASE WHEN l.reports
                            THEN convert_to(c.id || chr(10) || ${schema}.state_name(c.state) || chr(10) || COALESCE(c.reason, ''), 'UTF8')
                            ELSE COALESCE(o.payload, '') END
                FROM child
                CROSS JOIN LATERAL (
                    SELECT * FROM ${schema}.run WHERE run.key = child.key AND run.state >= ${COMPLETED} OFFSET 0
                ) c
                CROSS JOIN LATERAL (
                    SELECT *, position = ${REPORTING} AS reports FROM ${schema}.parent_elsewhere p
                    WHERE p.key = c.key AND p.answers OFFSET 0
                ) l
                CROSS JOIN LATERAL (
                    SELECT (lpad(to_hex(c.key), 16, '0') || lpad(to_hex(c.seed), 16, '0'))::uuid AS token OFFSET 0
                ) t
                LEFT JOIN LATERAL (
                    SELECT payload FROM ${schema}.journal j WHERE j.key = c.key AND j.position = ${OUTCOME} OFFSET 0
                ) o ON true
                WHERE ${client_or_lane_exists}
                ON CONFLICT (token) DO NOTHING
                RETURNING 1
            )
            SELECT count(*) FROM told
            """;

    private final String send;
    private final String link;
    private final String tell;
    private volatile boolean shard;

    ElsewhereSql(Schema schema) {
        this.send = Pieces.sql(schema, SEND.replace("${sends}", Elsewhere.SENDS.numbered("g")));
        this.link = Pieces.sql(schema, LINK.replace("${links}", Elsewhere.LINKS.many("g")));
        this.tell = Pieces.sql(schema, TELL.replace("${report_topic}", "'" + EndReport.TOPIC + "'"));
    }

    /** This database is one of several shards: from now on, batches look for parents that are elsewhere. */
    public void beShard() {
        shard = true;
    }

    /** Whether runs may have parents that are elsewhere. */
    public boolean isShard() {
        return shard;
    }

    /**
     * What the transitions of a batch send.
     *
     * @param kept called if the statement has kept something
     */
    public Part send(Sending sending, Batch batch, Runnable kept) {
        return new Part(
                send,
                parameters -> {
                    batch.elsewhere.bindSends(parameters);
                    sending.lane(parameters).integer(sending.worker());
                },
                results -> read(results, kept));
    }

    /** The parents of the runs that a batch starts. */
    public Part link(Batch batch) {
        return new Part(link, batch.elsewhere::bindLinks, Results::skip);
    }

    /**
     * The outcomes of runs that end.
     *
     * @param keys the runs that are given by key
     * @param ids the runs that are given by id
     * @param kept called if the statement has kept something
     */
    public Part tell(Sending sending, long[] keys, String[] ids, Runnable kept) {
        return new Part(
                tell,
                parameters -> sending.laneOfWorker(parameters.longs(keys).texts(ids)),
                results -> read(results, kept));
    }

    private static void read(Results results, Runnable kept) throws SQLException {
        if (results.one().getLong(1) > 0) {
            kept.run();
        }
    }
}
