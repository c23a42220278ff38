-- Perdure: virtual objects.
--
-- The rules of V001 and V002 hold. A call of an object is a run; which object is in a row beside it, so that other runs pay
-- nothing. Who holds an object is on the object's row, and only whoever has locked that row, before any run, may change it or
-- the order of those that wait: so arrival is the order of locking, and no call is left behind a free object.

-- A key now tells whether the run holds an object, or waits for it (bit 60), so that the end of any other run need not ask.
ALTER SEQUENCE ${schema}.key_block MAXVALUE 68719476735;

CREATE TABLE ${schema}.object (
    holder    bigint,                     -- key of the run that holds it
    arrivals  bigint   NOT NULL DEFAULT 0, -- how many have ever had to wait: the number of the latest
    partition smallint NOT NULL,          -- a hash of type and key
    type      text     COLLATE "C" NOT NULL,
    key       text     COLLATE "C" NOT NULL,
    PRIMARY KEY (type, key, partition)
) WITH (
    -- Two updates a call: room for them keeps them HOT.
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_analyze_scale_factor = 0.02
);

-- Of which object a run is a call.
CREATE TABLE ${schema}.object_call (
    key         bigint   NOT NULL, -- of the run
    number      bigint,            -- its place among those that wait for their turn; null: it does not
    partition   smallint NOT NULL,
    hold        smallint NOT NULL, -- 0 shared, 1 exclusive, 2 exclusive, but not arrived yet
    object_type text     COLLATE "C" NOT NULL,
    object_key  text     COLLATE "C" NOT NULL,
    PRIMARY KEY (key, partition)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- Who is next.
CREATE UNIQUE INDEX object_call_waiting ON ${schema}.object_call (object_type, object_key, number, partition)
    WHERE number IS NOT NULL;

-- What objects know.
CREATE TABLE ${schema}.object_state (
    partition   smallint NOT NULL, -- of the object
    object_type text     COLLATE "C" NOT NULL,
    object_key  text     COLLATE "C" NOT NULL,
    name        text     COLLATE "C" NOT NULL,
    payload     bytea    NOT NULL,
    PRIMARY KEY (object_type, object_key, name, partition)
) WITH (
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_analyze_scale_factor = 0.02
);

CREATE OR REPLACE VIEW ${schema}.journals AS
SELECT r.id, j.position, j.note,
       ('{STEP,SLEEP,NOW,PATCH,TIMER,RECEIVE,CHILD,PROMISE,AWAKEABLE,EVENT,CHOICE,AWAIT,EFFECT,TRANSACTION,STATE,STATE_NAMES}'::text[])[j.kind]
           AS kind,
       j.name,
       ('{VALUE,FAILURE,BEGUN,ATTEMPT,CANCELLED,DEADLINE,ABSENT}'::text[])[j.status + 1] AS status,
       j.at, ${schema}.payload_json(j.payload) AS payload
FROM ${schema}.journal j
JOIN ${schema}.run r ON r.key = j.key
WHERE j.position > 0 AND j.position < 2147483647;

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
