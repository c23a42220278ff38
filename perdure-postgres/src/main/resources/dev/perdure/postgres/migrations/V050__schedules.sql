-- Perdure: schedules. A schedule is a run, and what it knows is what it recorded last, so there is nothing to store beside it.

-- The schedules of workers with the default codec, which writes JSON.
CREATE VIEW ${schema}.schedules AS
SELECT substr(r.id, 10) AS name, s.spec #>> '{what,definition}' AS definition,
       CASE WHEN j.known -> 'declared' = 'null' THEN 'RUN_TIME' WHEN j.known -> 'changed' = 'null' THEN 'CODE' ELSE 'CHANGED' END AS source,
       CASE WHEN r.state = 5 THEN r.reason ELSE j.known ->> 'paused' END AS paused,
       -- Due, and no live worker declares it.
       r.state = 1 AND NOT EXISTS (
           SELECT FROM ${schema}.worker w WHERE NOT w.dead AND r.definition = ANY (w.definitions)
       ) AS orphaned,
       ARRAY(SELECT t.at::timestamptz FROM jsonb_array_elements_text(j.known #> '{progress,upcoming}') AS t (at)) AS next,
       (j.known #>> '{progress,fired}')::bigint AS fired,
       jsonb_array_length(j.known #> '{work,running}') AS running,
       jsonb_array_length(j.known #> '{work,waiting}') AS waiting,
       (
           SELECT jsonb_agg(jsonb_build_object(
                      'run', p.past ->> 'run', 'scheduled_for', p.past ->> 'time',
                      'state', COALESCE(${schema}.state_name(f.state), p.past ->> 'state')) ORDER BY p.place DESC)
           FROM jsonb_array_elements(j.known #> '{results,recent}') WITH ORDINALITY AS p (past, place)
           LEFT JOIN ${schema}.run f ON f.id = (p.past ->> 'run') COLLATE "C"
       ) AS recent,
       (j.known #>> '{results,failures}')::integer AS failures,
       (j.known #>> '{results,lastSuccess}')::timestamptz AS last_success,
       (j.known #>> '{results,lastSkip,time}')::timestamptz AS last_skipped,
       j.known #>> '{results,lastSkip,reason}' AS skip_reason,
       s.spec
FROM ${schema}.run r
CROSS JOIN LATERAL (
    SELECT ${schema}.payload_json(journal.payload)::jsonb AS known
    FROM ${schema}.journal
    WHERE journal.key = r.key AND journal.position < 2147483647 AND journal.note = 0
    ORDER BY journal.position DESC
    LIMIT 1
) j
CROSS JOIN LATERAL (
    SELECT COALESCE(NULLIF(j.known -> 'changed', 'null'), NULLIF(j.known -> 'declared', 'null')) AS spec
) s
WHERE r.id >= 'schedule:' AND r.id < 'schedule;' AND r.definition LIKE 'perdure.schedule%' AND r.state < 6 AND s.spec IS NOT NULL;
