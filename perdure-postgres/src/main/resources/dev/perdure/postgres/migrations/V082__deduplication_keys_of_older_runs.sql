-- Perdure: runs that were started before V070 know their deduplication keys, as far as these are known.

-- The table start_key has the latest run of a key, and the run that this one replaces, for an hour after its end. It does not have earlier runs,
-- nor whether a run gave its key up when it began: such a run now keeps it until it has ended. That may refuse a retry, which can be made later
-- or as a fork; without it, two runs could go on under one key.
UPDATE ${schema}.run SET start_key = k.start_key
FROM (
    SELECT start_key, unnest(ARRAY[run, after]) AS key FROM ${schema}.start_key WHERE kind = 0
) k
WHERE run.key = k.key AND run.start_key IS NULL
  AND run.created_at < (SELECT applied_at FROM ${schema}.migration WHERE version = 70);
