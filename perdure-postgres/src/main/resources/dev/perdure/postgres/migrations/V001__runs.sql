-- Perdure: runs, their journals and the states that they have left.
--
-- The files of this folder create each table, function and view once. The role that applies them owns the schema; roles.sql beside this
-- folder has the grants for workers and viewers.
--
-- Four rules explain the shape:
--   1. A run is one narrow row that is updated in place (HOT): no column that changes in an ordinary run is indexed. Runs in a state are
--      found through small tables, whose rows come and go with the state: held (RUNNING), ready (READY), timer (SUSPENDED, BACKING_OFF).
--   2. Payloads are not on that row. They are in the journal: the input at position 0, the outcome at the last position.
--   3. Nothing has to be cleaned up when a run ends or begins anew. Rows that belong to one life of a run carry the number of that life
--      (restarts), and statements that read them compare it with the run's own.
--   4. partition is a hash of the id of the family's root, and the low byte of the key. It is the last column of most keys, where it fills
--      padding and costs nothing; a distributed PostgreSQL can distribute the tables by it.
--
-- The columns of tables with many rows are ordered by their widths, so that there is no padding between them: eight bytes, four, two, one,
-- then texts. A null takes no room. In the table run those that are never null come first: PostgreSQL finds them without looking at others.
--
-- States: 0 pending, 1 ready, 2 running, 3 suspended, 4 backing off, 5 paused, 6 completed, 7 failed, 8 cancelled, 9 skipped.

-- Workers take blocks of 65,536 keys from it, so few transactions use it, and a key is known before its row is written. Four bits of a key
-- mark runs that need more statements, so that other runs cost no look at other tables: 62, another run waits for its outcome; 61, other
-- runs come after it; 60, it holds a virtual object or waits for one; 59, its start was not answered, so retention keeps it until no copy
-- of that start can arrive.
CREATE SEQUENCE ${schema}.key_block AS bigint MINVALUE 1 MAXVALUE 34359738367;

CREATE TABLE ${schema}.run (
    key                 bigint      NOT NULL,
    seed                bigint      NOT NULL,
    epoch               bigint      NOT NULL,
    created_at          timestamptz NOT NULL,
    changed_at          timestamptz NOT NULL,
    wakes               integer     NOT NULL DEFAULT 0,
    changes             integer     NOT NULL DEFAULT 0, -- how many states it has left: the number of its next event
    recoveries          integer     NOT NULL DEFAULT 0,
    entries_at_recovery integer     NOT NULL DEFAULT 0,
    mails               integer     NOT NULL DEFAULT 0, -- how many have ever arrived: the number of the latest
    restarts            integer     NOT NULL DEFAULT 0, -- how often it began anew
    priority            integer     NOT NULL,
    partition           smallint    NOT NULL,
    state               smallint    NOT NULL,
    wake_at             timestamptz,
    deadline            timestamptz,
    ran_at              timestamptz, -- of a run that has ended: since when it was running; null if event, or created_at, says it
    removed_at          timestamptz, -- when retention removed all but its id, input and outcome; infinity: that is under way
    parent              bigint,      -- key of the run that started it from inside
    timeout             bigint,      -- of a run with tasks and of a task, in microseconds: a task's counts from when open is 0
    owner               integer,     -- worker.number
    parent_position     integer,     -- the call of the parent that gets the outcome as its answer; null: none does
    parent_restarts     integer,     -- the life of the parent that made this call; a later life does not know it
    open                integer,     -- how many of the runs in after have not ended; null: it comes after none
    needed              integer,     -- how many of awaited and awaited_names are still to come
    weight              integer,     -- how many units of its queue's rate it takes; null: one
    -- The state, if the run is paused, failed, cancelled or skipped. An index on the state itself would keep every update of every run from
    -- being HOT. This column is null, and stays null, for a run that completes.
    rare_state          smallint    GENERATED ALWAYS AS (CASE WHEN state IN (5, 7, 8, 9) THEN state END) STORED,
    id                  text        COLLATE "C" NOT NULL,
    definition          text        COLLATE "C" NOT NULL,
    queue               text        COLLATE "C" NOT NULL,
    queue_key           text        COLLATE "C", -- its key in the queue, such as a customer
    version             text        COLLATE "C",
    -- Which workers may run it: gpu=true,memory>=16; after a tab what it prefers. Null: any.
    placement           text        COLLATE "C",
    start_key           text        COLLATE "C", -- the deduplication key that it has until it has ended. A retry gives it the key again
    reason              text,
    reason_start        text        COLLATE "C" -- the beginning of the reason in the states of rare_state
                                    GENERATED ALWAYS AS (CASE WHEN state IN (5, 7, 8, 9) THEN left(reason, 200) END) STORED,
    cancel              text,
    kill                text,
    pause               text,
    status              text,
    memo                text,
    attributes          jsonb,       -- names with values: see attribute_values
    -- What it waits for besides wake_at. Written when it begins to wait, and valid only while it waits.
    awaited             int4multirange,          -- answers, by the positions of their calls
    awaited_names       text[]      COLLATE "C", -- m:topic, p:promise, l:limiter
    -- Keys are known before rows are written, so the edges of a DAG are written with its nodes, and never change.
    after               bigint[],    -- keys of the runs that it comes after, in order; empty for a task that begins at once
    before              bigint[],    -- keys of the runs that come after it. A run with after and without before is one with tasks
    PRIMARY KEY (key, partition),
    UNIQUE (id)
) WITH (
    -- Runs of one page are often updated together: claimed from a queue, woken, handed over, ended, hundreds in a batch. Room for a second
    -- version of each lets these updates stay on their page (HOT), so they touch no index and are cleaned up without vacuum.
    fillfactor = 50,
    -- Vacuum by a small share of the table: the default of a fifth is many millions of rows here.
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_analyze_scale_factor = 0.02
);

-- For lists, newest first, and for retention, which goes by age. Never changes, so it does not stand in the way of HOT.
CREATE INDEX run_created_at ON ${schema}.run (created_at);

-- By these runs are found. An ordinary run that completes writes none of them, and no update of such a run touches them. Each is followed
-- by the order of lists.
CREATE INDEX run_rare_state ON ${schema}.run (rare_state, created_at) WHERE rare_state IS NOT NULL;
CREATE INDEX run_reason_start ON ${schema}.run (reason_start, created_at) WHERE reason_start IS NOT NULL;
CREATE INDEX run_queue ON ${schema}.run (queue, created_at) WHERE queue <> 'default';
CREATE INDEX run_queue_key ON ${schema}.run (queue_key, created_at) WHERE queue_key IS NOT NULL;
CREATE INDEX run_version ON ${schema}.run (version, created_at) WHERE version IS NOT NULL;
CREATE INDEX run_parent ON ${schema}.run (parent, created_at) WHERE parent IS NOT NULL;

-- Summaries of ranges of pages, made by vacuum. They cost a start nothing, and a look through all of them takes milliseconds.
CREATE INDEX run_definition ON ${schema}.run
    USING brin (definition text_bloom_ops (n_distinct_per_range = 64, false_positive_rate = 0.001)) WITH (pages_per_range = 8);

-- From PostgreSQL 16 on, such an index lets updates stay HOT. In earlier versions it does not, and runs in the states of ordinary runs are
-- found by their creation.
DO $$
BEGIN
    IF current_setting('server_version_num')::int >= 160000 THEN
        CREATE INDEX run_state ON ${schema}.run USING brin (state, changed_at) WITH (pages_per_range = 16);
    END IF;
END
$$;

CREATE TABLE ${schema}.journal (
    key       bigint      NOT NULL,
    position  integer     NOT NULL, -- 0 the input, 2147483647 the outcome, between them the entries
    note      smallint    NOT NULL,
    partition smallint    NOT NULL,
    at        timestamptz NOT NULL,
    -- 0 input or outcome, 1 step, 2 sleep, 3 now, 4 patch, 5 timer, 6 receive, 7 child, 8 promise, 9 awakeable, 10 event, 11 choice,
    -- 12 await, 13 effect, 14 transaction, 15 state, 16 names of states
    kind      smallint    NOT NULL,
    status    smallint    NOT NULL, -- 0 value, 1 failure, 2 begun, 3 attempt, 4 cancelled, 5 deadline, 6 absent
    name      text        NOT NULL,
    payload   bytea       NOT NULL,
    PRIMARY KEY (key, position, note, partition)
) WITH (
    -- Rows are inserted and never updated, so pages are filled. Retention deletes rows: vacuum by a smaller share than the default.
    fillfactor = 100,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.05
);

-- The states that a run has left, with their reasons. The state that it is in is on its own row, and so are others of most runs: the view
-- events has all.
CREATE TABLE ${schema}.event (
    key       bigint      NOT NULL,
    number    integer     NOT NULL,
    partition smallint    NOT NULL,
    state     smallint    NOT NULL,
    at        timestamptz NOT NULL,
    reason    text,
    PRIMARY KEY (key, number, partition)
) WITH (
    fillfactor = 100,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.05
);

-- A row for each value of an attribute, and for each keyword. Runs without attributes have none. The table run has the same values; this
-- one is only for finding them, in the order of lists.
CREATE TABLE ${schema}.attribute (
    key        bigint      NOT NULL,
    created_at timestamptz NOT NULL, -- run.created_at
    at         timestamptz,          -- a time
    partition  smallint    NOT NULL,
    name       text        COLLATE "C" NOT NULL,
    kind       text        COLLATE "C" NOT NULL,
    value      text        COLLATE "C" NOT NULL,
    number     numeric,              -- a number
    PRIMARY KEY (key, name, value, partition)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

CREATE INDEX attribute_value ON ${schema}.attribute (name, kind, value, created_at);
CREATE INDEX attribute_number ON ${schema}.attribute (name, number, created_at) WHERE number IS NOT NULL;
CREATE INDEX attribute_at ON ${schema}.attribute (name, at, created_at) WHERE at IS NOT NULL;

-- The values of attributes, one in each row: "customer": "c-7" a text, 12.5 a number, true a flag, ["a", "b"] keywords, {"time": "…"} a time.
CREATE FUNCTION ${schema}.attribute_values(attributes jsonb) RETURNS TABLE (name text, kind text, value text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
    SELECT e.key, CASE jsonb_typeof(e.value) WHEN 'string' THEN 'text' WHEN 'number' THEN 'number' WHEN 'boolean' THEN 'flag'
                       WHEN 'array' THEN 'keywords' ELSE 'time' END, v.value
    FROM jsonb_each(attributes) AS e,
         jsonb_array_elements_text(CASE jsonb_typeof(e.value) WHEN 'array' THEN e.value WHEN 'object' THEN jsonb_build_array(e.value -> 'time')
                                   ELSE jsonb_build_array(e.value) END) AS v (value)
$$;

-- A state as views and messages name it.
CREATE FUNCTION ${schema}.state_name(state smallint) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ('{PENDING,READY,RUNNING,SUSPENDED,BACKING_OFF,PAUSED,COMPLETED,FAILED,CANCELLED,SKIPPED}'::text[])[state + 1]
$$;

-- A payload for people who ask in SQL. Payloads are bytes, normally UTF-8 JSON; any others are shown as a base64 string.
CREATE FUNCTION ${schema}.payload_json(payload bytea) RETURNS json
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
BEGIN
    IF payload IS NULL OR length(payload) = 0 THEN
        RETURN NULL;
    END IF;
    RETURN convert_from(payload, 'UTF8')::json;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN to_json(encode(payload, 'base64'));
END
$$;
