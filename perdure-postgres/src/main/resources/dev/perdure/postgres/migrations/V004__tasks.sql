-- Perdure: runs that come after others.
--
-- The rules of V001 and V002 hold. A run that comes after others is a row like any other, with the keys of these on it: keys
-- are known before rows are written, so the edges of a graph are written with its nodes, and there is no table of edges to
-- be kept in step. They never change. What changes is one number, under the lock of the row: how many have not ended.

-- A key now tells whether others come after the run (bit 61), so that the end of any other run need not ask.
ALTER SEQUENCE ${schema}.key_block MAXVALUE 137438953471;

ALTER TABLE ${schema}.run
    ADD open    integer,  -- how many of those it comes after have not ended; null: it comes after none
    ADD after   bigint[], -- their keys, in order; empty for a task that begins at once
    ADD before  bigint[], -- keys of those that come after it. A run with after and without before is one with tasks
    ADD timeout bigint;   -- of these, in microseconds: a task's counts from when open is 0

CREATE OR REPLACE VIEW ${schema}.runs AS
SELECT r.id, r.definition, ${schema}.state_name(r.state) AS state, r.reason, r.queue, r.priority, r.version,
       r.created_at, r.changed_at, r.wake_at, r.deadline, r.epoch, w.id AS worker, r.recoveries,
       r.cancel, r.kill, r.pause,
       ${schema}.payload_json(i.payload) AS input, ${schema}.payload_json(o.payload) AS outcome,
       p.id AS parent, r.mails, r.restarts, r.open
FROM ${schema}.run r
LEFT JOIN ${schema}.worker w ON w.number = r.owner
LEFT JOIN ${schema}.run p ON p.key = r.parent
LEFT JOIN ${schema}.journal i ON i.key = r.key AND i.position = 0
LEFT JOIN ${schema}.journal o ON o.key = r.key AND o.position = 2147483647;
