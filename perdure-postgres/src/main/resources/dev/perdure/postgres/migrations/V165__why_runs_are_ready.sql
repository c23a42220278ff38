-- Perdure: the view runs says why a ready run waits as handles do: also that no live worker has its definition, and rather than the reason
-- that the run had before.

CREATE OR REPLACE FUNCTION ${schema}.why_ready(run_key bigint, at timestamptz) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT COALESCE(${schema}.without_worker(r.definition, r.version), ${schema}.why_not_taken(run_key), ${schema}.why_queued(run_key, at))
    FROM ${schema}.run r WHERE r.key = run_key AND r.state = 1
$$;

-- Nothing else of the view changes.
CREATE OR REPLACE VIEW ${schema}.runs AS
SELECT r.id, r.definition, ${schema}.state_name(r.state) AS state,
       COALESCE(${schema}.why_waits(r.key, r.state, r.awaited_names, now()) COLLATE "default", r.reason) AS reason,
       r.queue, r.priority, r.version,
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
               SELECT c.parent_position, 'run ''' || c.id || ''''
               FROM (SELECT id, state, parent_position, parent_restarts FROM ${schema}.run WHERE run.parent = r.key OFFSET 0) c
               WHERE c.parent_restarts = r.restarts AND c.parent_position <@ r.awaited AND c.state < 6
               UNION ALL
               SELECT b.position, 'run ''' || b.id || '''' FROM (
                   SELECT j.position, split_part(${schema}.payload_text(j.payload), chr(10), 1) AS id
                   FROM ${schema}.journal j
                   WHERE j.key = r.key AND j.position >= lower(r.awaited) AND j.position < upper(r.awaited)
                     AND j.position <@ r.awaited AND j.kind = 7 AND j.status = 2 AND octet_length(j.payload) > 0
               ) b
               WHERE (SELECT true FROM ${schema}.run c WHERE c.id = b.id LIMIT 1) IS NULL AND NOT EXISTS (
                   SELECT FROM ${schema}.mail m
                   WHERE m.key = r.key AND m.channel <> 0 AND m.position = b.position AND m.restarts = r.restarts
               )
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
       r.attributes, r.queue_key, COALESCE(r.weight, 1) AS weight,
       NULLIF(split_part(r.placement, E'\t', 1), '') AS requires, NULLIF(split_part(r.placement, E'\t', 2), '') AS prefers,
       r.memo, r.status, r.headers
FROM ${schema}.run r
LEFT JOIN ${schema}.worker w ON w.number = r.owner
LEFT JOIN ${schema}.run p ON p.key = r.parent
LEFT JOIN ${schema}.journal i ON i.key = r.key AND i.position = 0
LEFT JOIN ${schema}.journal g ON g.key = r.parent AND g.position = 0 AND r.before IS NOT NULL
LEFT JOIN ${schema}.journal o ON o.key = r.key AND o.position = 2147483647;
