-- Perdure: a partition that has come from another shard opens without a lock.

-- Partitions that are open although the constraint partition_is_here still names them. A move inserts a row, which waits for
-- nobody; whatever makes the constraint anew deletes it. The constraint names the time since when the partition was expected,
-- so a row never opens it for another arrival.
CREATE TABLE ${schema}.arrived_partition (
    number smallint    PRIMARY KEY CHECK (number BETWEEN 0 AND 255),
    since  timestamptz NOT NULL -- as it was in closed_partition
);

-- The constraint asks this for rows of partitions that are about to come. A statement that finds what was put back sees the row
-- of the same commit; an earlier one is refused, and sent again. It has the rights of its owner, so that workers need none for
-- the table.
CREATE FUNCTION ${schema}.has_arrived(partition_number smallint, expected timestamptz) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    RETURN EXISTS (SELECT FROM ${schema}.arrived_partition a WHERE a.number = partition_number AND a.since = expected);
END
$$;
