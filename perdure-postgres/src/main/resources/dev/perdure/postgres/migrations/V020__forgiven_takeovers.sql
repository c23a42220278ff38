-- The life of the run in which it was taken over: a later life counts its recoveries anew.
ALTER TABLE ${schema}.takeover ADD COLUMN restarts integer NOT NULL DEFAULT 0;

-- A resume counts recoveries anew too, and deletes the rows of its run.
CREATE INDEX takeover_run ON ${schema}.takeover (key);
