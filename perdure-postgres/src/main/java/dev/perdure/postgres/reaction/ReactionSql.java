package dev.perdure.postgres.reaction;

import dev.perdure.postgres.jdbc.AuditText;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.reaction.Reaction;
import dev.perdure.spi.ReactionStart;
import dev.perdure.spi.Runs;

/**
 * The statements of reactions.
 *
 * <p>A run of a reaction is requested through the inbox, as callers request runs in their own transactions: the
 * statement locks nothing, and any worker starts the run soon after.
 */
public final class ReactionSql {
    /** The columns of a run that an event has. */
    private static final String COLUMNS =
            "xmin AS written, key, state, changes, created_at, changed_at, id, definition, reason";

    /** Whether the reaction {@code w} is for the run {@code r}. Runs that reactions have started are not. */
    private static final String CONCERNS = """
            NOT starts_with(r.id, '${PREFIX}') AND CASE WHEN w.definitions IS NULL
                THEN NOT starts_with(r.definition, '${ENGINE}') ELSE r.definition = ANY (w.definitions) END""";

    /** The id of the run to start: see {@link ReactionStart#id}. */
    private static final String ID = """
            '${PREFIX}' || w.name || ':' || CASE WHEN octet_length(r.id) > ${LONGEST} THEN md5(r.id) ELSE r.id END || '#' || r.key || '.' || ${change}""";

    /** Requests runs by rows that have an event. */
    private static final String REQUEST =
            """
            INSERT INTO ${schema}.inbox (seed, wish, id, definition, queue, input)
                SELECT hashtextextended(e.start_id, 0), 0, e.start_id, e.starts, e.queue,
                       convert_to(json_build_object(
                           'reaction', e.name, 'runId', json_build_object('value', e.id), 'definition', e.definition,
                           'occasion', e.occasion, 'at', ${at}, 'startedAt', ${started_at}, 'reason', e.reason)::text, 'UTF8')
                FROM event e
                RETURNING 1""".replace("${at}", instant("e.at")).replace("${started_at}", instant("e.created_at"));

    /**
     * What the batch before it has let fail, paused or cancelled. A row whose last writer is this very transaction was
     * changed by it: a repeated batch, or a command that came too late, finds rows that others have written. A run that
     * was in its state before, and only got a command, has been in it since before now. If there is no reaction, it looks
     * at no run. The order lets it read the rules by their index: where sequential scans are off, one would look as
     * expensive as nothing else.
     */
    private static final String REACT = """
            WITH rules AS MATERIALIZED (
                SELECT name, states, definitions, starts, queue FROM ${schema}.reaction WHERE paused IS NULL AND states <> '{}'
                ORDER BY name
            ), touched AS MATERIALIZED (
                SELECT r.*
                FROM unnest(?::bigint[]) AS g (key)
                CROSS JOIN LATERAL (SELECT ${columns} FROM ${schema}.run WHERE run.key = g.key OFFSET 0) r
                WHERE EXISTS (SELECT FROM rules)
                UNION ALL
                SELECT r.*
                FROM unnest(?::text[]) AS g (id)
                CROSS JOIN LATERAL (SELECT ${columns} FROM ${schema}.run WHERE run.id = g.id OFFSET 0) r
                WHERE EXISTS (SELECT FROM rules)
                UNION ALL
                -- Tasks end with the run that they belong to.
                SELECT r.*
                FROM unnest(?::text[]) AS g (id)
                CROSS JOIN LATERAL (SELECT key FROM ${schema}.run WHERE run.id = g.id OFFSET 0) d
                CROSS JOIN LATERAL (
                    SELECT ${columns} FROM ${schema}.run WHERE run.parent = d.key AND run.before IS NOT NULL OFFSET 0
                ) r
                WHERE EXISTS (SELECT FROM rules)
            ), event AS MATERIALIZED (
                -- A batch may name a run twice.
                SELECT DISTINCT ${id} AS start_id, w.name, w.starts, w.queue, r.id, r.definition, ${schema}.state_name(r.state) AS occasion,
                       r.changed_at AS at, r.created_at, COALESCE(r.reason, '') AS reason
                FROM touched r
                JOIN rules w ON r.state = ANY (w.states)
                WHERE r.written = pg_current_xact_id()::xid AND r.changed_at >= ${now} AND ${concerns}
            ), requested AS (
                ${request}
            )
            SELECT count(*) FROM requested
            """;

    /**
     * Looks at the runs that would be late by now, each once and again a minute later, and requests a run for each that
     * has not ended. One worker at a time looks for a reaction, because it locks how far it is.
     */
    private static final String LATE = """
            WITH watched AS MATERIALIZED (
                SELECT l.lag, l.reached_at, l.reached_key, ${now} - l.lag - w.late * interval '1 microsecond' AS until,
                       w.late * interval '1 microsecond' AS late, w.name, w.definitions, w.starts, w.queue
                FROM ${schema}.lateness l
                JOIN ${schema}.reaction w ON w.name = l.reaction
                WHERE w.paused IS NULL
                FOR UPDATE OF l SKIP LOCKED
            ), seen AS MATERIALIZED (
                SELECT w.*, r.*
                FROM watched w
                CROSS JOIN LATERAL (
                    SELECT key, created_at, state, id, definition FROM ${schema}.run
                    WHERE (run.created_at, run.key) > (w.reached_at, w.reached_key) AND run.created_at <= w.until
                    ORDER BY run.created_at, run.key
                    LIMIT ${AT_ONCE}
                ) r
            ), event AS MATERIALIZED (
                SELECT e.*
                FROM (
                    SELECT ${id} AS start_id, w.name, w.starts, w.queue, r.id, r.definition, 'LATE' AS occasion,
                           r.created_at + w.late AS at, r.created_at, 'The run is ' || ${schema}.state_name(r.state) || '.' AS reason
                    FROM seen w
                    CROSS JOIN LATERAL (SELECT w.key, w.id, w.definition, w.state, w.created_at) r
                    WHERE r.state < ${COMPLETED} AND ${concerns}
                ) e
                -- Not NOT EXISTS, for which the server reads the ids of all runs.
                WHERE (SELECT true FROM ${schema}.run WHERE run.id = e.start_id LIMIT 1) IS NULL
            ), requested AS (
                ${request}
            ), moved AS (
                UPDATE ${schema}.lateness l SET reached_at = s.created_at, reached_key = s.key
                FROM (SELECT DISTINCT ON (name, lag) name, lag, created_at, key FROM seen ORDER BY name, lag, created_at DESC, key DESC) s
                WHERE l.reaction = s.name AND l.lag = s.lag
            )
            SELECT count(*) FROM requested
            """;

    /** When the next run would be late that has not ended now. It looks at a limited number of runs. */
    private static final String NEXT_LATE = """
            SELECT min(n.created_at + w.late * interval '1 microsecond') AS next
            FROM ${schema}.lateness l
            JOIN ${schema}.reaction w ON w.name = l.reaction
            CROSS JOIN LATERAL (
                SELECT COALESCE(min(r.created_at) FILTER (WHERE r.state < ${COMPLETED} AND ${concerns}),
                                CASE WHEN count(*) = ${AT_ONCE} THEN max(r.created_at) END) AS created_at
                FROM (
                    SELECT created_at, state, id, definition FROM ${schema}.run
                    WHERE (run.created_at, run.key) > (l.reached_at, l.reached_key)
                    ORDER BY run.created_at, run.key
                    LIMIT ${AT_ONCE}
                ) r
            ) n
            WHERE w.paused IS NULL AND l.lag = interval '0'
            """;

    /** Runs that were started before count if they are not late yet, so the first look begins that long ago. */
    private static final String DECLARE = """
            WITH declared AS (
                INSERT INTO ${schema}.reaction AS w (name, states, late, definitions, starts, queue)
                VALUES (?, ?::smallint[], ?::bigint, ?::text[], ?, ?)
                ON CONFLICT (name) DO UPDATE SET
                    states = excluded.states, late = excluded.late, definitions = excluded.definitions, starts = excluded.starts,
                    queue = excluded.queue
                WHERE (w.states, w.late, w.definitions, w.starts, w.queue)
                    IS DISTINCT FROM (excluded.states, excluded.late, excluded.definitions, excluded.starts, excluded.queue)
                RETURNING name, late
            ), unwatched AS (
                DELETE FROM ${schema}.lateness WHERE reaction IN (SELECT name FROM declared WHERE late IS NULL)
            ), watched AS (
                INSERT INTO ${schema}.lateness AS l (reaction, lag, reached_at, reached_key)
                SELECT d.name, g.lag, ${now} - d.late * interval '1 microsecond', 0
                FROM declared d, unnest('{00:00:00, 00:01:00}'::interval[]) AS g (lag)
                WHERE d.late IS NOT NULL
                ON CONFLICT (reaction, lag) DO UPDATE SET
                    reached_at = LEAST(l.reached_at, excluded.reached_at),
                    reached_key = CASE WHEN excluded.reached_at < l.reached_at THEN 0 ELSE l.reached_key END
            )
            SELECT count(*) FROM declared
            """;

    /** An order that changes nothing is not recorded. The count says whether there is such a reaction. */
    private static final String PAUSE = """
            WITH given AS MATERIALIZED (
                SELECT ?::text AS reason, ?::text AS name
            ), done AS (
                UPDATE ${schema}.reaction SET paused = g.reason
                FROM given g
                WHERE reaction.name = g.name AND reaction.paused IS DISTINCT FROM g.reason
                RETURNING 1
            ), ${audited}
            SELECT count(*) FROM ${schema}.reaction WHERE name = (SELECT name FROM given)
            """;

    private static final String DELETE = """
            WITH done AS (
                DELETE FROM ${schema}.reaction WHERE name = ? RETURNING name
            ), unwatched AS (
                DELETE FROM ${schema}.lateness WHERE reaction IN (SELECT name FROM done)
            ), ${audited}
            SELECT count(*) FROM done
            """;

    private static final String LIST = """
            SELECT name, states, late, definitions, starts, queue, paused FROM ${schema}.reaction ORDER BY name
            """;

    /** How many runs a look at late runs takes at once. */
    static final int AT_ONCE = 1_000;

    final String react;
    final String late;
    final String nextLate;
    final String declare;
    final String pause;
    final String delete;
    final String list;

    public ReactionSql(Schema schema) {
        this.react = sql(schema, REACT, "r.changes");
        this.late = sql(schema, LATE, "'" + ReactionStart.LATE + "'");
        this.nextLate = sql(schema, NEXT_LATE, "");
        this.declare = sql(schema, DECLARE, "");
        this.pause = schema.sql(PAUSE.replace("${audited}", AuditText.WHEN_DONE));
        this.delete = schema.sql(DELETE.replace("${audited}", AuditText.WHEN_DONE));
        this.list = schema.sql(LIST);
    }

    private static String instant(String time) {
        return "to_char(%s AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')".formatted(time);
    }

    /** @param change what tells the changes of a run apart */
    private static String sql(Schema schema, String statement, String change) {
        return schema.sql(statement
                .replace("${columns}", COLUMNS)
                .replace("${concerns}", CONCERNS)
                .replace("${id}", ID)
                .replace("${change}", change)
                .replace("${request}", REQUEST)
                .replace("${now}", "COALESCE(?::timestamptz, now())")
                .replace("${PREFIX}", Reaction.ID_PREFIX)
                .replace("${ENGINE}", Runs.OF_THE_ENGINE)
                .replace("${LONGEST}", String.valueOf(ReactionStart.LONGEST_ID))
                .replace("${AT_ONCE}", String.valueOf(AT_ONCE)));
    }
}
