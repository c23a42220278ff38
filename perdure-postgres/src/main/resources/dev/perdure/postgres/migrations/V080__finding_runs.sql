-- Perdure: indexes by which runs are found. None of them is written by an ordinary run that completes, and no update of one touches them.
-- This migration writes the table run anew.

ALTER TABLE ${schema}.run
    -- The state, if the run is paused, failed, cancelled or skipped. An index on the state itself would keep every update of every run from being
    -- HOT. This column is null, and stays null, for a run that completes.
    ADD COLUMN rare_state smallint GENERATED ALWAYS AS (CASE WHEN state IN (5, 7, 8, 9) THEN state END) STORED,
    -- The beginning of the reason in these states.
    ADD COLUMN reason_start text COLLATE "C" GENERATED ALWAYS AS (CASE WHEN state IN (5, 7, 8, 9) THEN left(reason, 200) END) STORED;

-- Each is followed by the order of lists.
CREATE INDEX run_rare_state ON ${schema}.run (rare_state, created_at) WHERE rare_state IS NOT NULL;
CREATE INDEX run_reason_start ON ${schema}.run (reason_start, created_at) WHERE reason_start IS NOT NULL;
CREATE INDEX run_queue ON ${schema}.run (queue, created_at) WHERE queue <> 'default';
CREATE INDEX run_queue_key ON ${schema}.run (queue_key, created_at) WHERE queue_key IS NOT NULL;
CREATE INDEX run_version ON ${schema}.run (version, created_at) WHERE version IS NOT NULL;
DROP INDEX ${schema}.run_parent;
CREATE INDEX run_parent ON ${schema}.run (parent, created_at) WHERE parent IS NOT NULL;

-- Summaries of ranges of pages, made by vacuum. They cost a start nothing, and a look through all of them takes milliseconds.
CREATE INDEX run_definition ON ${schema}.run
    USING brin (definition text_bloom_ops (n_distinct_per_range = 64, false_positive_rate = 0.001)) WITH (pages_per_range = 8);

-- From PostgreSQL 16 on, such an index lets updates stay HOT. In earlier versions it does not, and runs in the states of ordinary runs are found
-- by their creation.
DO $$
BEGIN
    IF current_setting('server_version_num')::int >= 160000 THEN
        CREATE INDEX run_state ON ${schema}.run USING brin (state, changed_at) WITH (pages_per_range = 16);
    END IF;
END
$$;
