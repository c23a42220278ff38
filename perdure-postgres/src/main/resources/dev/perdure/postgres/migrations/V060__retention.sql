-- Perdure: retention. Runs that have ended are removed after a while, by any worker, a batch at a time.

-- One row. The worker that removes a batch locks it, so that one works at a time; the others skip it and never wait.
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

-- A pass goes by created_at, which never changes, so it needs no index of its own, and the end of a run costs nothing more.
ALTER TABLE ${schema}.run
    ADD COLUMN removed_at timestamptz; -- when all but its id, input and outcome was removed; infinity: that is under way

-- A key now tells whether the run was started without an answer (bit 59), so that it can be kept until no copy of its start can arrive.
ALTER SEQUENCE ${schema}.key_block MAXVALUE 34359738367;

-- A run that a key names is kept.
CREATE INDEX start_key_run ON ${schema}.start_key (run);

-- Rows are deleted now: vacuum by a smaller share than a fifth, which is many millions of rows here.
ALTER TABLE ${schema}.journal SET (autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE ${schema}.event SET (autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE ${schema}.awakeable SET (autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE ${schema}.publication SET (autovacuum_vacuum_scale_factor = 0.05);

-- Lets a transaction be tried again, from inside a statement: a row that it was about to use has gone meanwhile.
CREATE FUNCTION ${schema}.try_again(why text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', why USING ERRCODE = 'serialization_failure';
END
$$;
