-- Perdure: what one transaction asks of one run is done in its order, also by several workers.

-- Its one row is locked while a worker marks rows of inbox as taken, so that the next one sees these marks.
CREATE TABLE ${schema}.inbox_lock (
    "only" boolean PRIMARY KEY CHECK ("only")
);
INSERT INTO ${schema}.inbox_lock VALUES (true);

-- Which rows of a run are marked: those after them wait.
CREATE INDEX inbox_taken ON ${schema}.inbox (id, number) WHERE taken_until IS NOT NULL;

-- For an answer: the life of the run whose call it is for. The run may begin anew before the caller's transaction commits.
ALTER TABLE ${schema}.inbox ADD restarts integer NOT NULL DEFAULT 0;
