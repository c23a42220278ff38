-- Perdure: the view queues also shows queues that are not declared, such as default, while runs wait in them or are at work.

CREATE OR REPLACE VIEW ${schema}.queues AS
SELECT COALESCE(q.name, k.queue) AS name, q.paused, COALESCE(q.declared, '{}') AS declared, COALESCE(q.changed, '{}') AS changed,
       COALESCE(q.declared || q.changed, '{}') AS limits,
       COALESCE(k.waiting, 0) AS waiting, k.oldest, COALESCE(k.begun, 0) AS begun, COALESCE(k.at_work, 0) AS at_work,
       COALESCE(${schema}.last_minute(q.minute, q.this_minute, q.minute_before, now()), 0) AS last_minute,
       q.name IS NOT NULL AS known
FROM ${schema}.queue q
FULL JOIN (
    SELECT queue, sum(waiting)::bigint AS waiting, min(oldest) AS oldest, sum(begun)::bigint AS begun, sum(at_work)::bigint AS at_work
    FROM ${schema}.queue_keys
    GROUP BY queue
) k ON k.queue = q.name;
