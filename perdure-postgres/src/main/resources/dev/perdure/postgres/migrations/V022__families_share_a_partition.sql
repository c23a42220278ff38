-- Children and tasks have the partition of the root of their family, whatever their own ids are. An id is unique whatever the
-- partition, and a run is looked up by its id alone.
ALTER TABLE ${schema}.run DROP CONSTRAINT run_id_partition_key, ADD UNIQUE (id);
