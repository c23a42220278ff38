-- Perdure: graphs that are started in callers' transactions, and fewer rows for every task.

-- What is born with a run that a caller has asked for. Comes and goes with its row in inbox, by the same rules.
CREATE TABLE ${schema}.inbox_task (
    number     bigint   NOT NULL, -- of the start in inbox
    seed       bigint   NOT NULL,
    timeout    bigint,            -- in microseconds
    place      integer  NOT NULL, -- among its fellows
    priority   integer  NOT NULL,
    id         text     NOT NULL,
    definition text     NOT NULL,
    queue      text     NOT NULL,
    version    text,
    after      integer[] NOT NULL, -- places of those that it comes after
    input      bytea,              -- null: that of the run
    PRIMARY KEY (number, place)
) WITH (
    fillfactor = 100,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);

-- How many of them there are.
ALTER TABLE ${schema}.inbox ADD tasks integer NOT NULL DEFAULT 0;

-- A task that was started with the input of its run has no input of its own in journal.
CREATE OR REPLACE VIEW ${schema}.runs AS
SELECT r.id, r.definition, ${schema}.state_name(r.state) AS state, r.reason, r.queue, r.priority, r.version,
       r.created_at, r.changed_at, r.wake_at, r.deadline, r.epoch, w.id AS worker, r.recoveries,
       r.cancel, r.kill, r.pause,
       ${schema}.payload_json(COALESCE(i.payload, g.payload)) AS input, ${schema}.payload_json(o.payload) AS outcome,
       p.id AS parent, r.mails, r.restarts, r.open
FROM ${schema}.run r
LEFT JOIN ${schema}.worker w ON w.number = r.owner
LEFT JOIN ${schema}.run p ON p.key = r.parent
LEFT JOIN ${schema}.journal i ON i.key = r.key AND i.position = 0
LEFT JOIN ${schema}.journal g ON g.key = r.parent AND g.position = 0 AND r.before IS NOT NULL
LEFT JOIN ${schema}.journal o ON o.key = r.key AND o.position = 2147483647;

-- Two states that most runs leave need no row in event: the first, if it was to wait for those it comes after, and the last
-- before the end.
ALTER TABLE ${schema}.run
    ADD ran_at timestamptz; -- of one that has ended: since when it was running; null if event, or created_at, says it

CREATE OR REPLACE VIEW ${schema}.events AS
SELECT r.id, e.number, ${schema}.state_name(e.state) AS state, e.at, e.reason
FROM ${schema}.event e
JOIN ${schema}.run r ON r.key = e.key
UNION ALL
SELECT r.id, 0, CASE WHEN r.after <> '{}' THEN 'PENDING' ELSE 'RUNNING' END, r.created_at, NULL
FROM ${schema}.run r
WHERE r.changes > 0 AND NOT EXISTS (SELECT FROM ${schema}.event e WHERE e.key = r.key AND e.number = 0)
UNION ALL
SELECT r.id, r.changes - 1, 'RUNNING', r.ran_at, NULL
FROM ${schema}.run r
WHERE r.ran_at IS NOT NULL
UNION ALL
SELECT r.id, r.changes, ${schema}.state_name(r.state), r.changed_at, r.reason
FROM ${schema}.run r;
