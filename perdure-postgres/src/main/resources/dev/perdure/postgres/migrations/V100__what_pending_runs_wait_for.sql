-- Perdure: why a run is pending or backs off. Read only when somebody asks; nothing more is written.

-- Why a worker would not take a ready run, whatever its queue: nobody has registered its definition.
CREATE FUNCTION ${schema}.without_worker(definition text, version text) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT 'No live worker has the definition ''' || definition || '''' || COALESCE(' in version ''' || version || '''', '') || '.'
    WHERE NOT EXISTS (
        SELECT FROM ${schema}.worker w
        WHERE NOT w.dead AND without_worker.definition = ANY (w.definitions)
          AND (without_worker.version IS NULL OR without_worker.version = w.version)
    )
$$;

-- Why a run is pending: a call waits for its object, a task for those that it comes after. A run that replaces another has that as its reason.
CREATE FUNCTION ${schema}.why_pending(run_key bigint, at timestamptz) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    holder record;
    tasks text[];
    unended integer;
BEGIN
    IF run_key & (1::bigint << 60) <> 0 THEN -- it holds an object, or waits for it
        SELECT h.id, ${schema}.state_name(h.state) AS state, c.object_type, c.object_key,
               CASE h.state WHEN 1 THEN COALESCE(${schema}.without_worker(h.definition, h.version), ${schema}.why_ready(h.key, at))
                            WHEN 5 THEN h.reason END AS reason
        INTO holder
        FROM ${schema}.object_call c
        JOIN ${schema}.object o ON o.type = c.object_type AND o.key = c.object_key
        JOIN ${schema}.run h ON h.key = o.holder
        WHERE c.key = run_key AND c.number IS NOT NULL;
        IF FOUND THEN
            RETURN format('Run ''%s'' holds the object ''%s'' with the key ''%s'' and is %s%s', holder.id, holder.object_type,
                          holder.object_key, holder.state, COALESCE(': ' || holder.reason, '.'));
        END IF;
    END IF;
    -- The first that have not ended are found early, and the row counts them: a task may come after thousands.
    SELECT array_agg(first.id ORDER BY first.place), min(first.open) INTO tasks, unended
    FROM (
        SELECT t.id, a.place, r.open
        FROM ${schema}.run r
        CROSS JOIN LATERAL unnest(r.after) WITH ORDINALITY AS a (key, place)
        CROSS JOIN LATERAL (SELECT id, state FROM ${schema}.run WHERE run.key = a.key OFFSET 0) t
        WHERE r.key = run_key AND t.state < 6
        ORDER BY a.place
        LIMIT 3
    ) AS first;
    IF tasks IS NOT NULL THEN
        RETURN format('Waits for the end of ''%s''%s.', array_to_string(tasks, ''', '''),
                      CASE WHEN unended > 3 THEN format(' and %s more', unended - 3) ELSE '' END);
    END IF;
    RETURN NULL;
END
$$;

-- Which attempt has failed last.
CREATE FUNCTION ${schema}.why_backs_off(run_key bigint) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT format('Attempt %s of %s ''%s'' failed.', j.note, CASE j.kind WHEN 1 THEN 'step' ELSE 'transaction' END, j.name)
    FROM ${schema}.journal j
    WHERE j.key = run_key AND j.position > 0 AND j.position < 2147483647 AND j.status = 3
    ORDER BY j.position DESC, j.note DESC
    LIMIT 1
$$;

CREATE OR REPLACE FUNCTION ${schema}.why_waits(run_key bigint, state smallint, awaited_names text[], at timestamptz) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT CASE state
        WHEN 0 THEN ${schema}.why_pending(run_key, at)
        WHEN 1 THEN ${schema}.why_ready(run_key, at)
        WHEN 3 THEN (
            SELECT ${schema}.why_limited(min(substr(n.name, 3)), at) FROM unnest(awaited_names) AS n (name)
            WHERE n.name LIKE 'l:%' HAVING count(*) > 0
        )
        WHEN 4 THEN ${schema}.why_backs_off(run_key) END
$$;
