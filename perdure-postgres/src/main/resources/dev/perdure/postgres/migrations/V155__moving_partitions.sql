-- Perdure: partitions that move from one shard to another.

-- Where the numbers of this shard's keys begin, so that keys stay unique when partitions move: see Keys.
ALTER TABLE ${schema}.shard ADD COLUMN number integer NOT NULL DEFAULT 0 CHECK (number BETWEEN 0 AND 255);
UPDATE ${schema}.shard SET number = (SELECT count(DISTINCT owner) FROM unnest(owners) AS owner WHERE owner < name);

-- The partitions in which this database takes no changes. While a row is here, a constraint named partition_is_here on the
-- tables of runs refuses the partition.
CREATE TABLE ${schema}.closed_partition (
    number smallint    PRIMARY KEY CHECK (number BETWEEN 0 AND 255),
    phase  text        NOT NULL CHECK (phase IN ('LEAVING', 'ARRIVING', 'LEFT', 'GONE')),
    other  text        NOT NULL, -- the shard to which it goes or went, or from which it comes
    since  timestamptz NOT NULL DEFAULT now()
);

-- What must not be found while a partition is closed: rows of ready, timer, held and others.
CREATE TABLE ${schema}.set_aside (
    number       bigint   GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    of_partition smallint NOT NULL,
    of_table     text     NOT NULL,
    content      jsonb    NOT NULL
);
