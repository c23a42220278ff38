-- Perdure: tokens of awakeables that nobody can read, and what operators do in place of whoever has them.

-- What tokens are derived from, in its one row. Only workers read it: no view shows it, and no other role may.
-- A token that was given out is found by its hash, so it stays valid should the row ever be replaced.
CREATE TABLE ${schema}.secret (
    "only" boolean NOT NULL DEFAULT true PRIMARY KEY CHECK ("only"),
    value  bytea   NOT NULL DEFAULT sha256(
               uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
);
INSERT INTO ${schema}.secret DEFAULT VALUES;

-- Which answers operators gave to runs, in place of whoever has the token.
CREATE TABLE ${schema}.audit (
    key       bigint      NOT NULL,
    token     uuid        NOT NULL, -- of the mail
    at        timestamptz NOT NULL,
    position  integer     NOT NULL, -- of the call that was answered
    restarts  integer     NOT NULL, -- the life of the run whose call it was
    partition smallint    NOT NULL,
    status    smallint    NOT NULL, -- as in mail: 0 value, 1 failure
    operator  text        NOT NULL,
    PRIMARY KEY (key, token, partition)
) WITH (fillfactor = 100);

CREATE VIEW ${schema}.audits AS
SELECT r.id, a.at, a.position, a.restarts, ('{RESOLVED,REJECTED}'::text[])[a.status + 1] AS action, a.operator
FROM ${schema}.audit a
JOIN ${schema}.run r ON r.key = a.key;

-- Journals of earlier versions have tokens (an AWAKEABLE that has BEGUN), which nobody needs to see.
CREATE OR REPLACE VIEW ${schema}.journals AS
SELECT r.id, j.position, j.note,
       ('{STEP,SLEEP,NOW,PATCH,TIMER,RECEIVE,CHILD,PROMISE,AWAKEABLE,EVENT,CHOICE,AWAIT,EFFECT,TRANSACTION,STATE,STATE_NAMES}'::text[])[j.kind]
           AS kind,
       j.name,
       ('{VALUE,FAILURE,BEGUN,ATTEMPT,CANCELLED,DEADLINE,ABSENT}'::text[])[j.status + 1] AS status,
       j.at, CASE WHEN j.kind = 9 AND j.status = 2 THEN NULL ELSE ${schema}.payload_json(j.payload) END AS payload
FROM ${schema}.journal j
JOIN ${schema}.run r ON r.key = j.key
WHERE j.position > 0 AND j.position < 2147483647;
