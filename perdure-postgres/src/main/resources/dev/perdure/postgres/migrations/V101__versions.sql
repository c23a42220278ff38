-- Perdure: versions of workers that drain, and the live runs that are pinned to a version.

-- What operators tell the workers of a version, also those that join later: to take no more runs of a definition, or of any, but those
-- that are pinned to the version. The rows stay until the version is resumed.
CREATE TABLE ${schema}.drain (
    since      timestamptz NOT NULL,
    version    text        COLLATE "C" NOT NULL,
    definition text        COLLATE "C" NOT NULL, -- empty: all
    PRIMARY KEY (version, definition)
);

-- What of it a worker obeys: no claim and no start of it is under way that began before.
ALTER TABLE ${schema}.worker ADD COLUMN drains text[] COLLATE "C" NOT NULL DEFAULT '{}';

-- The version of a pinned run that has not ended. Null, and so without an entry in the index, for all other runs: their updates stay HOT.
-- An index on the state would keep every update of every run from being HOT. Adding the column rewrites the table.
ALTER TABLE ${schema}.run ADD COLUMN live_version text COLLATE "C" GENERATED ALWAYS AS (CASE WHEN state < 6 THEN version END) STORED;

CREATE INDEX run_live_version ON ${schema}.run (live_version, definition) WHERE live_version IS NOT NULL;

-- Why no worker takes a ready run that is not pinned: all that have its definition drain.
CREATE FUNCTION ${schema}.why_not_taken(run_key bigint) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT format('Every live worker that has the definition ''%s'' drains.', r.definition)
    FROM ${schema}.run r
    CROSS JOIN LATERAL (
        SELECT bool_and(w.drains && ARRAY['', r.definition]) AS drain
        FROM ${schema}.worker w
        WHERE NOT w.dead AND r.definition = ANY (w.definitions)
    ) AS workers
    WHERE r.key = run_key AND r.state = 1 AND r.version IS NULL AND workers.drain
$$;

ALTER FUNCTION ${schema}.why_ready(bigint, timestamptz) RENAME TO why_queued;

-- Why no worker has taken a run that is ready. Null if it only waits for a worker.
CREATE FUNCTION ${schema}.why_ready(run_key bigint, at timestamptz) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT COALESCE(${schema}.why_not_taken(run_key), ${schema}.why_queued(run_key, at))
$$;
