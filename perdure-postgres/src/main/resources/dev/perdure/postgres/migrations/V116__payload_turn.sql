-- Perdure: one worker of all looks for large payloads to which no row refers any more.

-- When a worker last began to look at all large payloads. Another one begins only some minutes later.
ALTER TABLE ${schema}.retention ADD COLUMN payloads_at timestamptz NOT NULL DEFAULT to_timestamp(0);
