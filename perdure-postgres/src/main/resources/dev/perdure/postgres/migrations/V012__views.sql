-- Perdure: views for people and scripts, with names instead of numbers and payloads as JSON. A later migration may add columns at the end.

-- A task that was started with the input of its run has no input of its own in journal. What a suspended run waits for besides wake_at is in
-- awaited, ten things at most.
CREATE VIEW ${schema}.runs AS
SELECT r.id, r.definition, ${schema}.state_name(r.state) AS state,
       COALESCE(r.reason, ${schema}.why_waits(r.key, r.state, r.awaited_names, now()) COLLATE "default") AS reason,
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
       r.attributes, r.queue_key, COALESCE(r.weight, 1) AS weight,
       NULLIF(split_part(r.placement, E'\t', 1), '') AS requires, NULLIF(split_part(r.placement, E'\t', 2), '') AS prefers,
       r.memo, r.status
FROM ${schema}.run r
LEFT JOIN ${schema}.worker w ON w.number = r.owner
LEFT JOIN ${schema}.run p ON p.key = r.parent
LEFT JOIN ${schema}.journal i ON i.key = r.key AND i.position = 0
LEFT JOIN ${schema}.journal g ON g.key = r.parent AND g.position = 0 AND r.before IS NOT NULL
LEFT JOIN ${schema}.journal o ON o.key = r.key AND o.position = 2147483647;

-- A payload that could be the token of an awakeable is not shown.
CREATE VIEW ${schema}.journals AS
SELECT r.id, j.position, j.note,
       ('{STEP,SLEEP,NOW,PATCH,TIMER,RECEIVE,CHILD,PROMISE,AWAKEABLE,EVENT,CHOICE,AWAIT,EFFECT,TRANSACTION,STATE,STATE_NAMES}'::text[])[j.kind]
           AS kind,
       j.name,
       ('{VALUE,FAILURE,BEGUN,ATTEMPT,CANCELLED,DEADLINE,ABSENT}'::text[])[j.status + 1] AS status,
       j.at, CASE WHEN j.kind = 9 AND j.status = 2 THEN NULL ELSE ${schema}.payload_json(j.payload) END AS payload
FROM ${schema}.journal j
JOIN ${schema}.run r ON r.key = j.key
WHERE j.position > 0 AND j.position < 2147483647;

-- Some states that most runs leave have no row in event, because the row of the run says all there is to say of them. The first one, since
-- created_at: PENDING if the run was to come after others; READY if RUNNING is its second state; otherwise RUNNING. And the last
-- one before the end: RUNNING, since ran_at.
CREATE VIEW ${schema}.events AS
SELECT r.id, e.number, ${schema}.state_name(e.state) AS state, e.at, e.reason
FROM ${schema}.event e
JOIN ${schema}.run r ON r.key = e.key
UNION ALL
SELECT r.id, 0,
       CASE WHEN r.after <> '{}' THEN 'PENDING'
            WHEN r.changes = 1 AND r.state = 2
                 OR r.changes = 2 AND r.ran_at IS NOT NULL
                 OR EXISTS (SELECT FROM ${schema}.event e WHERE e.key = r.key AND e.number = 1 AND e.state = 2) THEN 'READY'
            ELSE 'RUNNING' END,
       r.created_at, NULL
FROM ${schema}.run r
WHERE r.changes > 0 AND NOT EXISTS (SELECT FROM ${schema}.event e WHERE e.key = r.key AND e.number = 0)
UNION ALL
SELECT r.id, r.changes - 1, 'RUNNING', r.ran_at, NULL
FROM ${schema}.run r
WHERE r.ran_at IS NOT NULL
UNION ALL
SELECT r.id, r.changes, ${schema}.state_name(r.state), r.changed_at, r.reason
FROM ${schema}.run r;

CREATE VIEW ${schema}.mails AS
SELECT r.id, m.number, ('{MESSAGE,PROMISE,ANSWER}'::text[])[m.channel + 1] AS channel, m.name, m.position,
       ('{VALUE,FAILURE}'::text[])[m.status + 1] AS status, m.text, m.taken, m.at,
       ${schema}.payload_json(m.payload) AS payload
FROM ${schema}.mail m
JOIN ${schema}.run r ON r.key = m.key;

CREATE VIEW ${schema}.publications AS
SELECT r.id, p.name, p."offset", p.at, ${schema}.payload_json(p.payload) AS payload
FROM ${schema}.publication p
JOIN ${schema}.run r ON r.key = p.key;

CREATE VIEW ${schema}.objects AS
SELECT o.type, o.key, r.id AS holder,
       (SELECT count(*) FROM ${schema}.object_call c
        WHERE c.object_type = o.type AND c.object_key = o.key AND c.number IS NOT NULL) AS waiting
FROM ${schema}.object o
LEFT JOIN ${schema}.run r ON r.key = o.holder;

CREATE VIEW ${schema}.object_calls AS
SELECT c.object_type AS type, c.object_key AS key, r.id, r.definition, ${schema}.state_name(r.state) AS state, c.number,
       ('{SHARED,EXCLUSIVE,ON_ARRIVAL}'::text[])[c.hold + 1] AS hold
FROM ${schema}.object_call c
JOIN ${schema}.run r ON r.key = c.key;

CREATE VIEW ${schema}.object_states AS
SELECT s.object_type AS type, s.object_key AS key, s.name, ${schema}.payload_json(s.payload) AS payload
FROM ${schema}.object_state s;

-- What waits and runs, by queue and key: empty for runs without one.
CREATE VIEW ${schema}.queue_keys AS
SELECT both_of_them.queue, both_of_them.queue_key, sum(waiting)::bigint AS waiting, min(oldest) AS oldest,
       sum(begun)::bigint AS begun, sum(at_work)::bigint AS at_work
FROM (
    SELECT queue, COALESCE(queue_key, '') AS queue_key, count(*) AS waiting, min(since) AS oldest, 0 AS begun, 0 AS at_work
    FROM ${schema}.ready
    GROUP BY 1, 2
    UNION ALL
    SELECT r.queue, COALESCE(r.queue_key, ''), 0, NULL, count(*), count(*) FILTER (WHERE r.state = 2)
    FROM (SELECT key FROM ${schema}.held UNION SELECT key FROM ${schema}.slot) AS may_hold
    JOIN ${schema}.run r ON r.key = may_hold.key
    WHERE r.state BETWEEN 1 AND 4
    GROUP BY 1, 2
) AS both_of_them
GROUP BY 1, 2;

CREATE VIEW ${schema}.queues AS
SELECT q.name, q.paused, q.declared, q.changed, q.declared || q.changed AS limits,
       COALESCE(k.waiting, 0) AS waiting, k.oldest, COALESCE(k.begun, 0) AS begun, COALESCE(k.at_work, 0) AS at_work,
       CASE q.minute WHEN date_trunc('minute', now()) THEN q.minute_before
                     WHEN date_trunc('minute', now()) - interval '1 minute' THEN q.this_minute
                     ELSE 0 END AS last_minute
FROM ${schema}.queue q
LEFT JOIN (
    SELECT queue, sum(waiting)::bigint AS waiting, min(oldest) AS oldest, sum(begun)::bigint AS begun, sum(at_work)::bigint AS at_work
    FROM ${schema}.queue_keys
    GROUP BY queue
) k ON k.queue = q.name;

CREATE VIEW ${schema}.limiters AS
SELECT l.name, l.paused, l.declared, l.changed, l.declared || l.changed AS limits,
       COALESCE(w.waiting, 0) AS waiting, w.oldest, cardinality(${schema}.permit_holders(l.name)) AS held
FROM ${schema}.limiter l
LEFT JOIN (
    SELECT limiter, count(*) AS waiting, min(asked_at) AS oldest FROM ${schema}.permit WHERE state <> 1 GROUP BY limiter
) w ON w.limiter = l.name;

-- A schedule is a run, and what it knows is what it recorded last, so nothing is stored beside it. These are the schedules of workers with
-- the default codec, which writes JSON.
CREATE VIEW ${schema}.schedules AS
SELECT substr(r.id, 10) AS name, s.spec #>> '{what,definition}' AS definition,
       CASE WHEN j.known -> 'declared' = 'null' THEN 'RUN_TIME' WHEN j.known -> 'changed' = 'null' THEN 'CODE' ELSE 'CHANGED' END AS source,
       CASE WHEN r.state = 5 THEN r.reason ELSE j.known ->> 'paused' END AS paused,
       -- Due, and no live worker declares it.
       r.state = 1 AND NOT EXISTS (
           SELECT FROM ${schema}.worker w WHERE NOT w.dead AND r.definition = ANY (w.definitions)
       ) AS orphaned,
       ARRAY(SELECT t.at::timestamptz FROM jsonb_array_elements_text(j.known #> '{progress,upcoming}') AS t (at)) AS next,
       (j.known #>> '{progress,fired}')::bigint AS fired,
       jsonb_array_length(j.known #> '{work,running}') AS running,
       jsonb_array_length(j.known #> '{work,waiting}') AS waiting,
       (
           SELECT jsonb_agg(jsonb_build_object(
                      'run', p.past ->> 'run', 'scheduled_for', p.past ->> 'time',
                      'state', COALESCE(${schema}.state_name(f.state), p.past ->> 'state')) ORDER BY p.place DESC)
           FROM jsonb_array_elements(j.known #> '{results,recent}') WITH ORDINALITY AS p (past, place)
           LEFT JOIN ${schema}.run f ON f.id = (p.past ->> 'run') COLLATE "C"
       ) AS recent,
       (j.known #>> '{results,failures}')::integer AS failures,
       (j.known #>> '{results,lastSuccess}')::timestamptz AS last_success,
       (j.known #>> '{results,lastSkip,time}')::timestamptz AS last_skipped,
       j.known #>> '{results,lastSkip,reason}' AS skip_reason,
       s.spec
FROM ${schema}.run r
CROSS JOIN LATERAL (
    SELECT ${schema}.payload_json(journal.payload)::jsonb AS known
    FROM ${schema}.journal
    WHERE journal.key = r.key AND journal.position < 2147483647 AND journal.note = 0
    ORDER BY journal.position DESC
    LIMIT 1
) j
CROSS JOIN LATERAL (
    SELECT COALESCE(NULLIF(j.known -> 'changed', 'null'), NULLIF(j.known -> 'declared', 'null')) AS spec
) s
WHERE r.id >= 'schedule:' AND r.id < 'schedule;' AND r.definition LIKE 'perdure.schedule%' AND r.state < 6 AND s.spec IS NOT NULL;

CREATE VIEW ${schema}.audits AS
SELECT at, operator, origin, action, subject, name, NULLIF(position, 0) AS position, detail, id FROM ${schema}.audit;
