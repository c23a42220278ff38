-- A run has one row in ready at most, and whoever takes that row away finds it by the run.
--
-- It was found by all columns of its key before, among them alone, which some statements wrote otherwise than others looked for
-- it: then the row stayed, a second one came beside it, and every claim that met both failed.

-- Rows of runs that are not ready, and of those that have several all but the first: left behind by that.
DELETE FROM ${schema}.ready q
WHERE NOT EXISTS (SELECT FROM ${schema}.run r WHERE r.key = q.key AND r.partition = q.partition AND r.state = 1)
   OR EXISTS (SELECT FROM ${schema}.ready other WHERE other.key = q.key AND other.partition = q.partition AND other.ctid < q.ctid);

CREATE UNIQUE INDEX ready_run ON ${schema}.ready (key, partition);
