-- Perdure: the children that a run has on another shard are read one page at a time, oldest first.

-- When the run was created. It is written in the transaction that creates the run, so the default is right for older processes.
ALTER TABLE ${schema}.parent_elsewhere ADD COLUMN created_at timestamptz NOT NULL DEFAULT now();
SET LOCAL perdure.moving = 'on'; -- so that rows of partitions that move may be changed
UPDATE ${schema}.parent_elsewhere p SET created_at = r.created_at FROM ${schema}.run r WHERE r.key = p.key;

DROP INDEX ${schema}.parent_elsewhere_parent;
CREATE INDEX parent_elsewhere_parent ON ${schema}.parent_elsewhere (parent_key, created_at, key);
