-- Perdure: limiters of steps, and the permits that attempts at steps hold or wait for.

-- A limiter that was declared. A request for a permit locks its row, so that one worker at a time counts its permits.
CREATE TABLE ${schema}.limiter (
    name     text   COLLATE "C" PRIMARY KEY,
    declared jsonb  NOT NULL DEFAULT '{}', -- what the code says: names of settings with texts
    changed  jsonb  NOT NULL DEFAULT '{}', -- what operators have changed since
    paused   text,                         -- why, if it is
    line     bigint NOT NULL DEFAULT 0     -- the last place in its line
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- An attempt at a step that holds a permit or waits for one. Whether it still does is on its run's own row and in its journal, so
-- nothing has to give a permit back; a request that finds an attempt which is over deletes its row here.
CREATE TABLE ${schema}.permit (
    limiter   text        COLLATE "C" NOT NULL,
    number    bigint      NOT NULL, -- its place in the line
    key       bigint      NOT NULL, -- of the run
    epoch     bigint      NOT NULL, -- under which the run asked last
    asked_at  timestamptz NOT NULL, -- for the first time
    called_at timestamptz,          -- when its turn came, if it has not asked since
    position  integer     NOT NULL, -- of the step
    attempt   integer     NOT NULL,
    restarts  integer     NOT NULL, -- the life of the run
    partition smallint    NOT NULL,
    state     smallint    NOT NULL, -- 0 waits, 1 holds a permit, 2 passed over until it asks again
    PRIMARY KEY (limiter, key, position, partition)
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX permit_line ON ${schema}.permit (limiter, state, number);
-- Nearly always empty: whether any attempt waits.
CREATE INDEX permit_waits ON ${schema}.permit (limiter) WHERE state = 0;

-- How many attempts got permits lately, for limiters with a rate: see queue_rate.
CREATE TABLE ${schema}.limiter_rate (
    limiter    text        COLLATE "C" NOT NULL,
    since      timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    units      bigint      NOT NULL,
    PRIMARY KEY (limiter, since)
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);

-- The runs that hold permits of a limiter, the first to get one first; a run with two permits twice.
CREATE FUNCTION ${schema}.permit_holders(of_limiter text) RETURNS text[]
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT COALESCE(array_agg(r.id ORDER BY p.number), '{}')
    FROM ${schema}.permit p JOIN ${schema}.run r ON r.key = p.key
    WHERE p.limiter = of_limiter AND p.state = 1 AND r.state = 2 AND r.epoch = p.epoch AND NOT EXISTS (
        SELECT FROM ${schema}.journal j WHERE j.key = p.key AND j.position = p.position AND j.note IN (0, p.attempt))
$$;

-- Why a limiter gives no permit now. Null if it would.
CREATE FUNCTION ${schema}.why_limited(of_limiter text, at timestamptz) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    rule record;
    permits integer;
    holders text[];
    free_at timestamptz;
BEGIN
    SELECT l.paused, l.declared || l.changed AS limits INTO rule FROM ${schema}.limiter l WHERE l.name = of_limiter;
    IF rule.paused IS NOT NULL THEN
        RETURN format('The limiter ''%s'' is paused: %s', of_limiter, rule.paused);
    END IF;
    permits := NULLIF(rule.limits->>'concurrency', 'none')::integer;
    IF permits IS NOT NULL THEN
        holders := ${schema}.permit_holders(of_limiter);
        IF cardinality(holders) >= permits THEN
            RETURN format('The limiter ''%s'' is full: %s', of_limiter,
                          replace(${schema}.places_taken(holders, permits), 'places are taken', 'permits are held'));
        END IF;
    END IF;
    SELECT min(r.expires_at) INTO free_at FROM ${schema}.limiter_rate r
    WHERE r.limiter = of_limiter AND r.expires_at > at
    HAVING sum(r.units) >= ${schema}.rate_units(rule.limits->>'rate', rule.limits->>'burst');
    IF free_at IS NOT NULL THEN
        RETURN format('The rate of the limiter ''%s'' allows no more before %s.', of_limiter,
                      to_char(free_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
    END IF;
    RETURN NULL;
END
$$;

-- Why a run does not go on: a ready one, or one that waits for permits.
CREATE FUNCTION ${schema}.why_waits(run_key bigint, state smallint, awaited_names text[], at timestamptz) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT CASE state
        WHEN 1 THEN ${schema}.why_ready(run_key, at)
        WHEN 3 THEN (
            SELECT ${schema}.why_limited(min(substr(n.name, 3)), at) FROM unnest(awaited_names) AS n (name)
            WHERE n.name LIKE 'l:%' HAVING count(*) > 0
        ) END
$$;

CREATE VIEW ${schema}.limiters AS
SELECT l.name, l.paused, l.declared, l.changed, l.declared || l.changed AS limits,
       COALESCE(w.waiting, 0) AS waiting, w.oldest, cardinality(${schema}.permit_holders(l.name)) AS held
FROM ${schema}.limiter l
LEFT JOIN (
    SELECT limiter, count(*) AS waiting, min(asked_at) AS oldest FROM ${schema}.permit WHERE state <> 1 GROUP BY limiter
) w ON w.limiter = l.name;

CREATE OR REPLACE VIEW ${schema}.runs AS
SELECT r.id, r.definition, ${schema}.state_name(r.state) AS state, COALESCE(r.reason, ${schema}.why_waits(r.key, r.state, r.awaited_names, now()) COLLATE "default") AS reason, r.queue, r.priority, r.version,
       r.created_at, r.changed_at, r.wake_at, r.deadline, r.epoch, w.id AS worker, r.recoveries,
       r.cancel, r.kill, r.pause,
       ${schema}.payload_json(COALESCE(i.payload, g.payload)) AS input, ${schema}.payload_json(o.payload) AS outcome,
       p.id AS parent, r.mails, r.restarts, r.open,
       CASE WHEN r.state = 3 THEN ARRAY(
           SELECT a.what FROM (
               SELECT 0 AS position, CASE left(n.name, 1) WHEN 'm' THEN 'message ''' WHEN 'l' THEN 'permit of limiter ''' ELSE 'promise ''' END
                      || substr(n.name, 3) || '''' AS what
               FROM unnest(r.awaited_names) AS n (name)
               WHERE n.name NOT LIKE 'p:%' OR NOT EXISTS (
                   SELECT FROM ${schema}.mail m
                   WHERE m.key = r.key AND m.channel <> 0 AND m.position = 0 AND m.name = substr(n.name, 3)
               )
               UNION ALL
               SELECT c.parent_position, 'run ''' || c.id || '''' FROM ${schema}.run c
               WHERE c.parent = r.key AND c.parent_restarts = r.restarts AND c.parent_position <@ r.awaited AND c.state < 6
               UNION ALL
               SELECT s.position, 'event ''' || s.event || ''''
                      || CASE WHEN s.event_key = '' THEN '' ELSE ' with key ''' || s.event_key || '''' END
               FROM ${schema}.subscription s
               WHERE s.key = r.key AND s.restarts = r.restarts AND s.position <@ r.awaited AND NOT EXISTS (
                   SELECT FROM ${schema}.mail m
                   WHERE m.key = r.key AND m.channel <> 0 AND m.position = s.position AND m.restarts = s.restarts
               )
               UNION ALL
               SELECT w.position, 'awakeable at position ' || w.position FROM ${schema}.awakeable w
               WHERE w.key = r.key AND w.restarts = r.restarts AND w.position <@ r.awaited AND NOT EXISTS (
                   SELECT FROM ${schema}.mail m
                   WHERE m.key = r.key AND m.channel <> 0 AND m.position = w.position AND m.restarts = w.restarts
               )
           ) AS a
           ORDER BY a.position, a.what
           LIMIT 10
       ) ELSE '{}' END AS awaited,
       r.attributes, r.queue_key, COALESCE(r.weight, 1) AS weight
FROM ${schema}.run r
LEFT JOIN ${schema}.worker w ON w.number = r.owner
LEFT JOIN ${schema}.run p ON p.key = r.parent
LEFT JOIN ${schema}.journal i ON i.key = r.key AND i.position = 0
LEFT JOIN ${schema}.journal g ON g.key = r.parent AND g.position = 0 AND r.before IS NOT NULL
LEFT JOIN ${schema}.journal o ON o.key = r.key AND o.position = 2147483647;
