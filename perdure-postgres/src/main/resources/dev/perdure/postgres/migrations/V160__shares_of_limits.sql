-- Perdure: places of limits that move from shard to shard.

-- What this shard has of a limit that several shards have together. Claims do not read it: changed of the queue or limiter has the same
-- number. A change locks the row of the queue or limiter first.
CREATE TABLE ${schema}.share (
    division bigint      NOT NULL, -- rises with each division of the limit; places move only within one
    aside_at timestamptz,
    came_at  timestamptz,          -- when places came last
    whole    integer     NOT NULL, -- of all shards together; 2147483647 if there is no limit
    joined   integer     NOT NULL, -- how many places this shard had when it joined the division
    places   integer     NOT NULL, -- how many it has now
    aside    integer     NOT NULL DEFAULT 0, -- how many of them no run gets, because another shard has asked
    settled  boolean     NOT NULL, -- whether it has got what the division gives it
    kind     text        NOT NULL CHECK (kind IN ('QUEUE', 'LIMITER')),
    name     text        COLLATE "C" NOT NULL,
    shards   text[]      NOT NULL,
    sent     jsonb       NOT NULL DEFAULT '{}', -- to each shard in this division: its name with a number that only rises
    received jsonb       NOT NULL DEFAULT '{}',
    PRIMARY KEY (kind, name)
);

-- A shard may have no place of a limit at the moment: then no run holds one.
CREATE OR REPLACE FUNCTION ${schema}.places_taken(holders text[], places integer) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
    SELECT format('%s of %s places are taken', cardinality(holders), places)
           || CASE WHEN cardinality(holders) = 0 THEN ' on this shard.'
                   ELSE ', by '
                        || (SELECT string_agg('''' || h.id || '''', ', ' ORDER BY h.place)
                            FROM unnest(holders[1:3]) WITH ORDINALITY AS h (id, place))
                        || CASE WHEN cardinality(holders) > 3 THEN format(' and %s more', cardinality(holders) - 3) ELSE '' END || '.' END
$$;
