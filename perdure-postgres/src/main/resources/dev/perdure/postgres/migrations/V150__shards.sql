-- Perdure: a database that is one of several shards.

-- Which of several shards this database is, and which shard has which partition. A database that is the whole store has no
-- row. A store reads it when it opens.
CREATE TABLE ${schema}.shard (
    "only" boolean PRIMARY KEY DEFAULT true CHECK ("only"),
    name text NOT NULL,
    version integer NOT NULL,
    -- The names of the shards, by partition.
    owners text[] NOT NULL CHECK (array_length(owners, 1) = 256)
);
