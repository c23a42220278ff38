-- Perdure: what reaches runs from elsewhere, and what they show to the world.
--
-- The rules of V001 hold: run stays one narrow row of which nothing that changes is indexed, and payloads are elsewhere.
-- A fourth one: nothing has to be cleaned up when a run ends or begins anew. Rows that belong to one life of a run carry
-- the number of that life (restarts), and whoever reads them compares.

-- A key now tells whether somebody waits for the run's outcome (bit 62), so that the end of any other run need not ask.
ALTER SEQUENCE ${schema}.key_block MAXVALUE 274877906943;

ALTER TABLE ${schema}.run
    ADD parent          bigint,                     -- key of the run that started it from inside
    ADD parent_position integer,                    -- the call there that gets the outcome as its answer; null: none does
    ADD parent_restarts integer,                    -- the life of the parent in which it did; a later one knows nothing of it
    ADD mails           integer NOT NULL DEFAULT 0, -- how many have ever arrived: the number of the latest
    ADD restarts        integer NOT NULL DEFAULT 0, -- how often it began anew
    -- What it waits for besides wake_at. Written when it begins to wait, and looked at only while it does.
    ADD needed          integer,                    -- how many of these are still to come
    ADD awaited         int4multirange,             -- answers, by the positions of their calls
    ADD awaited_names   text[] COLLATE "C";         -- m:topic, p:promise

-- For whoever cancels a family. A parent never changes, so this does not stand in the way of HOT.
CREATE INDEX run_parent ON ${schema}.run (parent) WHERE parent IS NOT NULL;

-- What has arrived. It stays when it was taken, because its token must stay known; then without a message's payload.
CREATE TABLE ${schema}.mail (
    key       bigint      NOT NULL,
    token     uuid        NOT NULL, -- names the sending: what is sent twice arrives once
    at        timestamptz NOT NULL,
    number    integer     NOT NULL, -- the order of arrival
    position  integer     NOT NULL, -- for an answer: of the call; otherwise 0
    restarts  integer     NOT NULL, -- for an answer: the life of the run whose call it was; otherwise 0
    partition smallint    NOT NULL,
    channel   smallint    NOT NULL, -- 0 message, 1 promise, 2 answer
    status    smallint    NOT NULL, -- as in journal: 0 value, 1 failure
    taken     boolean     NOT NULL DEFAULT false,
    name      text        COLLATE "C" NOT NULL, -- the topic or the promise; empty for an answer
    text      text        NOT NULL, -- of a failure, in short
    payload   bytea       NOT NULL,
    PRIMARY KEY (key, token, partition)
) WITH (
    fillfactor = 90,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_analyze_scale_factor = 0.02
);

-- What a run has still to take, in order: short, however much has passed through.
CREATE UNIQUE INDEX mail_unread ON ${schema}.mail (key, number, partition) WHERE NOT taken;

-- A promise and a call are answered once.
CREATE UNIQUE INDEX mail_once ON ${schema}.mail (key, position, restarts, name, partition) WHERE channel <> 0;

-- Who can answer a call from outside, by the hash of the token that was given out.
CREATE TABLE ${schema}.awakeable (
    key       bigint   NOT NULL,
    position  integer  NOT NULL,
    restarts  integer  NOT NULL,
    partition smallint NOT NULL,
    hash      text     COLLATE "C" NOT NULL,
    PRIMARY KEY (key, restarts, position, partition),
    UNIQUE (hash, partition)
) WITH (fillfactor = 100, autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05);

-- Which calls wait for an event. Those that are answered or whose run is over are removed by whoever next emits it.
CREATE TABLE ${schema}.subscription (
    key       bigint   NOT NULL,
    position  integer  NOT NULL,
    restarts  integer  NOT NULL,
    partition smallint NOT NULL,
    event     text     COLLATE "C" NOT NULL,
    event_key text     COLLATE "C" NOT NULL, -- empty: whatever key the event has
    PRIMARY KEY (key, restarts, position, partition)
) WITH (fillfactor = 100, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

CREATE INDEX subscription_event ON ${schema}.subscription (event, event_key);

-- What runs show to the world.
CREATE TABLE ${schema}.publication (
    key       bigint      NOT NULL,
    "offset"  bigint      NOT NULL, -- restarts in the upper half, the position of the call in the lower
    at        timestamptz NOT NULL,
    partition smallint    NOT NULL,
    name      text        COLLATE "C" NOT NULL,
    payload   bytea       NOT NULL,
    PRIMARY KEY (key, name, "offset", partition)
) WITH (fillfactor = 100, autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05);

CREATE OR REPLACE VIEW ${schema}.runs AS
SELECT r.id, r.definition, ${schema}.state_name(r.state) AS state, r.reason, r.queue, r.priority, r.version,
       r.created_at, r.changed_at, r.wake_at, r.deadline, r.epoch, w.id AS worker, r.recoveries,
       r.cancel, r.kill, r.pause,
       ${schema}.payload_json(i.payload) AS input, ${schema}.payload_json(o.payload) AS outcome,
       p.id AS parent, r.mails, r.restarts
FROM ${schema}.run r
LEFT JOIN ${schema}.worker w ON w.number = r.owner
LEFT JOIN ${schema}.run p ON p.key = r.parent
LEFT JOIN ${schema}.journal i ON i.key = r.key AND i.position = 0
LEFT JOIN ${schema}.journal o ON o.key = r.key AND o.position = 2147483647;

CREATE OR REPLACE VIEW ${schema}.journals AS
SELECT r.id, j.position, j.note,
       ('{STEP,SLEEP,NOW,PATCH,TIMER,RECEIVE,CHILD,PROMISE,AWAKEABLE,EVENT,CHOICE,AWAIT,EFFECT}'::text[])[j.kind] AS kind,
       j.name,
       ('{VALUE,FAILURE,BEGUN,ATTEMPT,CANCELLED,DEADLINE}'::text[])[j.status + 1] AS status,
       j.at, ${schema}.payload_json(j.payload) AS payload
FROM ${schema}.journal j
JOIN ${schema}.run r ON r.key = j.key
WHERE j.position > 0 AND j.position < 2147483647;

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
