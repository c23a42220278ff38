-- A run that is claimed as it was born, ready, has no row in event for that first state: nothing but that state is followed by
-- RUNNING in the second place, save waiting for others.

CREATE OR REPLACE VIEW ${schema}.events AS
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
