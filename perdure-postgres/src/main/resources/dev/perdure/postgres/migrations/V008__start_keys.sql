-- Perdure: keys under which starts meet: deduplication, idempotency keys with a time to live, debounce.

-- A key and the run that it names. Whether it still counts is seen from that run and the time, so nothing has to give it back. A start
-- under the key locks the row, so that of several at once one is the first.
CREATE TABLE ${schema}.start_key (
    run        bigint      NOT NULL DEFAULT 0, -- run.key; 0: none yet
    seed       bigint      NOT NULL DEFAULT 0, -- of the last start that was answered: a repeated one is known by it
    look_at    timestamptz NOT NULL,           -- when a sweep looks whether the row can be deleted
    after      bigint,                         -- that run begins when this one has ended, which it replaces
    until      timestamptz,                    -- when an idempotency key is free; the latest begin of a debounced run
    kind       smallint    NOT NULL,           -- 0 deduplication, 1 idempotency key, 2 debounce
    definition text        COLLATE "C" NOT NULL,
    start_key  text        COLLATE "C" NOT NULL,
    PRIMARY KEY (definition, start_key, kind)
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX start_key_look_at ON ${schema}.start_key (look_at);
-- Nearly always empty.
CREATE INDEX start_key_after ON ${schema}.start_key (after) WHERE after IS NOT NULL;
-- Retention keeps a run that a key names.
CREATE INDEX start_key_run ON ${schema}.start_key (run);
