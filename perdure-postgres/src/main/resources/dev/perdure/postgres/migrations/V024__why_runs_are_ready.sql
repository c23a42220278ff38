-- Perdure: why a run that is ready has not been taken, for people and for handles. Null if it only waits for a worker.

-- With the owner's rights, so that a viewer who may read the view runs gets an answer too.
CREATE FUNCTION ${schema}.why_ready(run_key bigint) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    waiting record;
    line record;
    places integer;
    begun boolean;
    holders text[];
BEGIN
    SELECT r.queue, r.queue_key INTO waiting FROM ${schema}.run r WHERE r.key = run_key AND r.state = 1;
    SELECT q.paused, q.declared || q.changed AS limits INTO line FROM ${schema}.queue q WHERE q.name = waiting.queue;
    IF waiting.queue IS NULL OR line.limits IS NULL THEN
        RETURN NULL;
    END IF;
    IF line.paused IS NOT NULL THEN
        RETURN format('The queue ''%s'' is paused: %s', waiting.queue, line.paused);
    END IF;
    begun := COALESCE(line.limits->>'counting', 'BEGUN') = 'BEGUN';
    IF begun AND EXISTS (SELECT FROM ${schema}.slot s WHERE s.key = run_key) THEN
        RETURN NULL; -- it holds its place
    END IF;
    places := NULLIF(line.limits->>'per_key', 'none')::integer;
    IF places IS NOT NULL AND waiting.queue_key IS NOT NULL THEN
        holders := ${schema}.place_holders(waiting.queue, waiting.queue_key, begun);
        IF cardinality(holders) >= places THEN
            RETURN format('The key ''%s'' of the queue ''%s'' is full: %s', waiting.queue_key, waiting.queue,
                          ${schema}.places_taken(holders, places));
        END IF;
    END IF;
    places := NULLIF(line.limits->>'concurrency', 'none')::integer;
    IF places IS NOT NULL THEN
        holders := ${schema}.place_holders(waiting.queue, NULL, begun);
        IF cardinality(holders) >= places THEN
            RETURN format('The queue ''%s'' is full: %s', waiting.queue, ${schema}.places_taken(holders, places));
        END IF;
    END IF;
    RETURN NULL;
END
$$;

-- The runs that hold places of a queue, or of one key of it, the first to begin first.
CREATE FUNCTION ${schema}.place_holders(of_queue text, of_key text, begun boolean) RETURNS text[]
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT COALESCE(array_agg(r.id ORDER BY r.created_at, r.id COLLATE "C"), '{}')
    FROM ${schema}.slot s JOIN ${schema}.run r ON r.key = s.key
    WHERE s.queue = of_queue AND (of_key IS NULL OR s.queue_key = of_key)
      AND (r.state = 2 OR begun AND r.state IN (1, 3, 4))
$$;

CREATE FUNCTION ${schema}.places_taken(holders text[], places integer) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
    SELECT format('%s of %s places are taken, by ', cardinality(holders), places)
           || (SELECT string_agg('''' || h.id || '''', ', ' ORDER BY h.place) FROM unnest(holders[1:3]) WITH ORDINALITY AS h (id, place))
           || CASE WHEN cardinality(holders) > 3 THEN format(' and %s more', cardinality(holders) - 3) ELSE '' END || '.'
$$;

CREATE OR REPLACE VIEW ${schema}.runs AS
SELECT r.id, r.definition, ${schema}.state_name(r.state) AS state, COALESCE(r.reason, CASE WHEN r.state = 1 THEN ${schema}.why_ready(r.key) END) AS reason, r.queue, r.priority, r.version,
       r.created_at, r.changed_at, r.wake_at, r.deadline, r.epoch, w.id AS worker, r.recoveries,
       r.cancel, r.kill, r.pause,
       ${schema}.payload_json(COALESCE(i.payload, g.payload)) AS input, ${schema}.payload_json(o.payload) AS outcome,
       p.id AS parent, r.mails, r.restarts, r.open,
       CASE WHEN r.state = 3 THEN ARRAY(
           SELECT a.what FROM (
               SELECT 0 AS position, CASE WHEN n.name LIKE 'm:%' THEN 'message ''' ELSE 'promise ''' END
                      || substr(n.name, 3) || '''' AS what
               FROM unnest(r.awaited_names) AS n (name)
               WHERE n.name LIKE 'm:%' OR NOT EXISTS (
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
       r.attributes, r.queue_key
FROM ${schema}.run r
LEFT JOIN ${schema}.worker w ON w.number = r.owner
LEFT JOIN ${schema}.run p ON p.key = r.parent
LEFT JOIN ${schema}.journal i ON i.key = r.key AND i.position = 0
LEFT JOIN ${schema}.journal g ON g.key = r.parent AND g.position = 0 AND r.before IS NOT NULL
LEFT JOIN ${schema}.journal o ON o.key = r.key AND o.position = 2147483647;
