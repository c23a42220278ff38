-- Perdure: what is on its way from this shard to others.

-- What runs of this shard do to runs of others, and the outcomes of runs whose parents are on other shards. A row is written in the
-- transaction that causes it, and deleted when the other shard has it. The numbers of what one run sends ascend, because a run has
-- one transaction at a time.
CREATE TABLE ${schema}.outgoing (
    number       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    token        uuid NOT NULL UNIQUE, -- a batch that is sent again does not insert it again; that of the mail, if it is one
    life         integer NOT NULL,     -- of the run that sent it; for an outcome, of the run that gets it
    to_partition smallint NOT NULL,
    partition    smallint NOT NULL,
    change       bytea,                -- null for an outcome or a report
    -- What an outcome or a report is as mail; null otherwise.
    to_run       text COLLATE "C",
    position     integer,
    channel      smallint,
    status       smallint,
    name         text,
    text         text,
    payload      bytea NOT NULL
);

CREATE INDEX outgoing_reference ON ${schema}.outgoing (payload)
    WHERE octet_length(payload) = 48 AND substring(payload FROM 1 FOR 8) = '\x007061796c6f6164'::bytea;

-- The parents of runs of this shard that are on other shards.
CREATE TABLE ${schema}.parent_elsewhere (
    key        bigint NOT NULL,
    parent_key bigint NOT NULL,
    position   integer NOT NULL,
    life       integer NOT NULL,
    partition  smallint NOT NULL,
    answers    boolean NOT NULL,
    parent     text COLLATE "C" NOT NULL,
    PRIMARY KEY (key, partition)
);

CREATE INDEX parent_elsewhere_parent ON ${schema}.parent_elsewhere (parent_key);
