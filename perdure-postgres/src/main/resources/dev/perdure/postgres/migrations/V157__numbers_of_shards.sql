-- Perdure: numbers of shards that are gone are not given again.

-- The highest number that a shard has had, on the first shard by name: keys of a shard that is gone may have moved anywhere.
ALTER TABLE ${schema}.shard ADD COLUMN highest_number integer NOT NULL DEFAULT 0;
