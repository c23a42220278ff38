-- Perdure: retention removes runs that have ended after a while; the audit outlives them.

-- One row. Any worker may remove a batch. It locks the row, so that one works at a time; the others skip it and never wait. A pass over old
-- runs goes by run.created_at, which never changes, so it needs no index of its own, and the end of a run costs nothing more.
CREATE TABLE ${schema}.retention (
    "only"      boolean     NOT NULL DEFAULT true PRIMARY KEY CHECK ("only"),
    next_at     timestamptz NOT NULL DEFAULT to_timestamp(0), -- no batch before this
    began_at    timestamptz,                                  -- the pass over old runs that is under way, or was the last one
    reached_at  timestamptz NOT NULL DEFAULT to_timestamp(0), -- where that pass is: run.created_at
    reached_key bigint      NOT NULL DEFAULT 0,               -- and run.key
    looked      bigint      NOT NULL DEFAULT 0,               -- at how many runs it has looked
    removed     bigint      NOT NULL DEFAULT 0,               -- how many of these it has removed
    declared    jsonb,                                        -- what the code says: names of settings with texts
    changed     jsonb                                         -- what an operator has put in its place
) WITH (fillfactor = 25);

INSERT INTO ${schema}.retention DEFAULT VALUES;

-- Lets a transaction be tried again, from inside a statement: a row that it was about to use has gone meanwhile.
CREATE FUNCTION ${schema}.try_again(why text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', why USING ERRCODE = 'serialization_failure';
END
$$;

-- Every command that changes something leaves an entry. It outlives what it is about.
CREATE TABLE ${schema}.audit (
    id        uuid        NOT NULL, -- chosen with the command: one that is sent again leaves one entry
    at        timestamptz NOT NULL,
    position  integer     NOT NULL, -- in the journal of the run; 0: of no call
    partition smallint    NOT NULL, -- of the run; 0: of no run
    action    text        COLLATE "C" NOT NULL,
    subject   text        COLLATE "C" NOT NULL, -- RUN, QUEUE, LIMITER, SCHEDULE, RETENTION
    name      text        COLLATE "C" NOT NULL, -- of the subject
    operator  text        NOT NULL,
    origin    text        NOT NULL, -- from where the command came; empty: not known
    detail    text        NOT NULL, -- the reason, or what was changed
    PRIMARY KEY (id, partition)
) WITH (fillfactor = 100);
CREATE INDEX audit_at ON ${schema}.audit (at, id);
CREATE INDEX audit_name ON ${schema}.audit (name, at, id);
