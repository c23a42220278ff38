-- Perdure: beside logical replication and parallel plans.

-- A publication for all tables refuses updates and deletes of rows without a key.
ALTER TABLE ${schema}.ready ADD CONSTRAINT ready_run PRIMARY KEY USING INDEX ready_run;
ALTER TABLE ${schema}.partition_change ADD COLUMN number uuid DEFAULT gen_random_uuid() PRIMARY KEY;

-- These catch what a damaged value raises, which takes a subtransaction, and a parallel plan may not begin one.
ALTER FUNCTION ${schema}.payload_json(bytea) PARALLEL UNSAFE;
ALTER FUNCTION ${schema}.payload_text(bytea) PARALLEL UNSAFE;
