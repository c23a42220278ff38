-- A run that was born running and ended so has no row in event for that first state: its own row says all there is to say
-- of it, and a row less for most runs is worth a longer view.

CREATE OR REPLACE VIEW ${schema}.events AS
SELECT r.id, e.number, ${schema}.state_name(e.state) AS state, e.at, e.reason
FROM ${schema}.event e
JOIN ${schema}.run r ON r.key = e.key
UNION ALL
SELECT r.id, 0, 'RUNNING', r.created_at, NULL
FROM ${schema}.run r
WHERE r.changes > 0 AND NOT EXISTS (SELECT FROM ${schema}.event e WHERE e.key = r.key AND e.number = 0)
UNION ALL
SELECT r.id, r.changes, ${schema}.state_name(r.state), r.changed_at, r.reason
FROM ${schema}.run r;
