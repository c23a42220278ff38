-- Perdure: the children of a run are read one page at a time, oldest first, however many there are.

-- Children that one commit starts have one time of creation, so the key is part of the order, and of the index.
DROP INDEX ${schema}.run_parent;
CREATE INDEX run_parent ON ${schema}.run (parent, created_at, key) WHERE parent IS NOT NULL;
