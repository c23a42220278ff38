-- Perdure: what reaches runs from outside, and what they publish.

-- What has arrived. A row stays when the run has taken it, because its token must stay known; a message then loses its payload.
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

-- What a run has still to take, in order: short, however much it has taken.
CREATE UNIQUE INDEX mail_unread ON ${schema}.mail (key, number, partition) WHERE NOT taken;

-- A promise and a call are answered once.
CREATE UNIQUE INDEX mail_once ON ${schema}.mail (key, position, restarts, name, partition) WHERE channel <> 0;

-- Which calls can be answered from outside, by the hash of the token that was given out.
CREATE TABLE ${schema}.awakeable (
    key       bigint   NOT NULL,
    position  integer  NOT NULL,
    restarts  integer  NOT NULL,
    partition smallint NOT NULL,
    hash      text     COLLATE "C" NOT NULL,
    PRIMARY KEY (key, restarts, position, partition),
    UNIQUE (hash, partition)
) WITH (
    fillfactor = 100,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.05
);

-- What tokens of awakeables are derived from, in its one row. Only workers read it: no view shows it, and no other role may. A token that
-- was given out is found by its hash, so it stays valid if the row is replaced.
CREATE TABLE ${schema}.secret (
    "only" boolean NOT NULL DEFAULT true PRIMARY KEY CHECK ("only"),
    value  bytea   NOT NULL DEFAULT sha256(
               uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
);
INSERT INTO ${schema}.secret DEFAULT VALUES;

-- Which calls wait for an event. The next query for subscribers of the event removes the rows of calls that are answered or whose run has
-- ended.
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

-- What runs publish.
CREATE TABLE ${schema}.publication (
    key       bigint      NOT NULL,
    "offset"  bigint      NOT NULL, -- restarts in the upper half, the position of the call in the lower
    at        timestamptz NOT NULL,
    partition smallint    NOT NULL,
    name      text        COLLATE "C" NOT NULL,
    payload   bytea       NOT NULL,
    PRIMARY KEY (key, name, "offset", partition)
) WITH (
    fillfactor = 100,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.05
);
