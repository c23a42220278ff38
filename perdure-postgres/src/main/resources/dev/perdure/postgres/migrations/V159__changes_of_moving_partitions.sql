-- Perdure: what has changed in a partition while it is copied to another shard.

-- A run or a virtual object that the other shard does not have as it is. Moves fill the table with everything of the partition,
-- and remove what they have copied; triggers, which only exist during a move, add what changes. Rows are only ever inserted
-- by workers, so no batch waits for another one here, and a run may have several.
CREATE TABLE ${schema}.partition_change (
    of_partition smallint NOT NULL,
    key          bigint,                  -- of a run
    object_type  text     COLLATE "C",    -- of a virtual object
    object_key   text     COLLATE "C",
    CHECK ((key IS NULL) = (object_type IS NOT NULL AND object_key IS NOT NULL))
);

CREATE INDEX partition_change_place ON ${schema}.partition_change (of_partition, key, object_type, object_key);

-- With the rights of the worker that changes something: roles.sql lets it insert, and nothing else.
CREATE FUNCTION ${schema}.note_run_change() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO ${schema}.partition_change (of_partition, key) VALUES (OLD.partition, OLD.key);
    ELSE
        INSERT INTO ${schema}.partition_change (of_partition, key) VALUES (NEW.partition, NEW.key);
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION ${schema}.note_object_change() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO ${schema}.partition_change (of_partition, object_type, object_key) VALUES (OLD.partition, OLD.type, OLD.key);
    ELSE
        INSERT INTO ${schema}.partition_change (of_partition, object_type, object_key) VALUES (NEW.partition, NEW.type, NEW.key);
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION ${schema}.note_object_state_change() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO ${schema}.partition_change (of_partition, object_type, object_key)
        VALUES (OLD.partition, OLD.object_type, OLD.object_key);
    ELSE
        INSERT INTO ${schema}.partition_change (of_partition, object_type, object_key)
        VALUES (NEW.partition, NEW.object_type, NEW.object_key);
    END IF;
    RETURN NULL;
END
$$;
