-- Perdure: a rate with a burst is two windows that both hold, and a heavy run counts with all its units.

-- When the stretch of time ended in which these units began; null if a process of an older version wrote the row.
ALTER TABLE ${schema}.queue_rate ADD COLUMN ended_at timestamptz;
ALTER TABLE ${schema}.limiter_rate ADD COLUMN ended_at timestamptz;
-- Whether one run began here that weighs more than a window has: what is beyond that counts in the windows that follow.
ALTER TABLE ${schema}.queue_rate ADD COLUMN heavy boolean NOT NULL DEFAULT false;
CREATE INDEX queue_rate_heavy ON ${schema}.queue_rate (queue) WHERE heavy; -- nearly always empty

-- The two windows of a rate, from its texts ('100/PT1M', and the burst). The burst alone implies the rate if the rate has whole bursts only, and
-- nearly so if it has a hundred of them or more: then both windows are the shorter one. rate_units and rate_period give that one as if that were
-- always so; processes of older versions apply nothing else.
CREATE FUNCTION ${schema}.has_two_windows(rate text, burst text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN rate <> 'none' THEN
        split_part(rate, '/', 1)::integer % ${schema}.rate_units(rate, burst) <> 0
        AND split_part(rate, '/', 1)::integer / ${schema}.rate_units(rate, burst) < 100 END
$$;
CREATE FUNCTION ${schema}.window_units(rate text, burst text) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN ${schema}.has_two_windows(rate, burst) THEN split_part(rate, '/', 1)::integer ELSE ${schema}.rate_units(rate, burst) END
$$;
CREATE FUNCTION ${schema}.window_period(rate text, burst text) RETURNS interval
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN ${schema}.has_two_windows(rate, burst) THEN split_part(rate, '/', 2)::interval ELSE ${schema}.rate_period(rate, burst) END
$$;
CREATE FUNCTION ${schema}.burst_units(rate text, burst text) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ${schema}.rate_units(rate, burst)
$$;
CREATE FUNCTION ${schema}.burst_period(rate text, burst text) RETURNS interval
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN ${schema}.has_two_windows(rate, burst)
        THEN split_part(rate, '/', 2)::interval * (${schema}.rate_units(rate, burst)::float8 / split_part(rate, '/', 1)::integer)
        ELSE ${schema}.rate_period(rate, burst) END
$$;

-- The parts into which a claim divides time: 128 to the shorter window.
CREATE FUNCTION ${schema}.rate_stretch(rate text, burst text) RETURNS interval
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT GREATEST(${schema}.burst_period(rate, burst) / 128, interval '1 microsecond')
$$;

-- When the stretch of a row ended. An older version counts a row for a 128th more than its period.
CREATE FUNCTION ${schema}.stretch_end(ended_at timestamptz, since timestamptz, expires_at timestamptz) RETURNS timestamptz
    LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT COALESCE(ended_at, since + (expires_at - since) / 129)
$$;

-- Until when the units of a heavy run fill windows: a period for each window, at most a hundred years. What is left counts for one more period.
CREATE FUNCTION ${schema}.fills_until(units bigint, ended_at timestamptz, most integer, period interval) RETURNS timestamptz
    LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT ended_at + make_interval(secs => LEAST(units / most * extract(epoch FROM period)::float8, 3155760000))
$$;

-- How many units of a row count in a window.
CREATE FUNCTION ${schema}.units_in_window(units bigint, ended_at timestamptz, heavy boolean, most integer, period interval, at timestamptz)
    RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN NOT heavy THEN CASE WHEN ended_at + period > at THEN units ELSE 0 END
                WHEN ${schema}.fills_until(units, ended_at, most, period) > at THEN units
                WHEN ${schema}.fills_until(units, ended_at, most, period) + period > at THEN units % most
                ELSE 0 END
$$;

-- When the last unit of a row leaves the windows.
CREATE FUNCTION ${schema}.rate_expiry(units bigint, ended_at timestamptz, heavy boolean, rate text, burst text) RETURNS timestamptz
    LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN heavy THEN GREATEST(
            ${schema}.fills_until(units, ended_at, ${schema}.window_units(rate, burst), ${schema}.window_period(rate, burst))
                + ${schema}.window_period(rate, burst),
            ${schema}.fills_until(units, ended_at, ${schema}.burst_units(rate, burst), ${schema}.burst_period(rate, burst))
                + ${schema}.burst_period(rate, burst))
        ELSE ended_at + ${schema}.window_period(rate, burst) END
$$;

-- When one more unit fits in a window. Null if it fits now: in the window are as many units as the first array says, which leave it
-- at the times in the second.
CREATE FUNCTION ${schema}.window_free_at(units bigint[], leave_at timestamptz[], most integer) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
    SELECT CASE WHEN COALESCE((SELECT sum(u) FROM unnest(units) AS u), 0) >= most THEN (
        SELECT min(leave_at) FROM (
            SELECT s.leave_at, sum(s.units) OVER (ORDER BY s.leave_at DESC GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS later
            FROM unnest(units, leave_at) AS s (units, leave_at)
        ) stay
        WHERE COALESCE(stay.later, 0) < most) END
$$;

-- When a rate of a queue allows more, if it allows nothing now.
CREATE OR REPLACE FUNCTION ${schema}.rate_free_at(of_queue text, of_key text, rate text, burst text, at timestamptz) RETURNS timestamptz
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT max(w.free_at) FROM (
        SELECT ${schema}.window_free_at(array_agg(s.units), array_agg(s.leave_at), w.most) AS free_at
        FROM (
            SELECT ${schema}.window_units(rate, burst), ${schema}.window_period(rate, burst)
            UNION
            SELECT ${schema}.burst_units(rate, burst), ${schema}.burst_period(rate, burst)
        ) AS w (most, period)
        CROSS JOIN LATERAL (
            SELECT units, heavy, ${schema}.stretch_end(ended_at, since, expires_at) AS ended_at FROM ${schema}.queue_rate q
            WHERE q.queue = of_queue AND q.queue_key = of_key AND q.expires_at > at
        ) r
        CROSS JOIN LATERAL (
            SELECT r.units, r.ended_at + w.period WHERE NOT r.heavy
            UNION ALL
            SELECT r.units - r.units % w.most, ${schema}.fills_until(r.units, r.ended_at, w.most, w.period) WHERE r.heavy
            UNION ALL
            SELECT r.units % w.most, ${schema}.fills_until(r.units, r.ended_at, w.most, w.period) + w.period WHERE r.heavy
        ) AS s (units, leave_at)
        WHERE s.leave_at > at AND w.most IS NOT NULL
        GROUP BY w.most, w.period
    ) w
$$;

-- Why a limiter gives no permit now. Null if it would.
CREATE OR REPLACE FUNCTION ${schema}.why_limited(of_limiter text, at timestamptz) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    rule record;
    permits integer;
    holders text[];
    free_at timestamptz;
BEGIN
    SELECT l.paused, l.declared || l.changed AS limits INTO rule FROM ${schema}.limiter l WHERE l.name = of_limiter;
    IF rule.paused IS NOT NULL THEN
        RETURN format('The limiter ''%s'' is paused: %s', of_limiter, rule.paused);
    END IF;
    permits := NULLIF(rule.limits->>'concurrency', 'none')::integer;
    IF permits IS NOT NULL THEN
        holders := ${schema}.permit_holders(of_limiter);
        IF cardinality(holders) >= permits THEN
            RETURN format('The limiter ''%s'' is full: %s', of_limiter,
                          replace(${schema}.places_taken(holders, permits), 'places are taken', 'permits are held'));
        END IF;
    END IF;
    SELECT max(w.free_at) INTO free_at FROM (
        SELECT ${schema}.window_free_at(array_agg(r.units), array_agg(r.ended_at + w.period), w.most) AS free_at
        FROM (SELECT rule.limits->>'rate' AS rate, rule.limits->>'burst' AS burst) l
        CROSS JOIN LATERAL (
            SELECT ${schema}.window_units(rate, burst), ${schema}.window_period(rate, burst)
            UNION
            SELECT ${schema}.burst_units(rate, burst), ${schema}.burst_period(rate, burst)
        ) AS w (most, period)
        CROSS JOIN LATERAL (
            SELECT units, ${schema}.stretch_end(ended_at, since, expires_at) AS ended_at FROM ${schema}.limiter_rate q
            WHERE q.limiter = of_limiter AND q.expires_at > at
        ) r
        WHERE r.ended_at + w.period > at
        GROUP BY w.most, w.period
    ) w;
    IF free_at IS NOT NULL THEN
        RETURN format('The rate of the limiter ''%s'' allows no more before %s.', of_limiter,
                      to_char(free_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
    END IF;
    RETURN NULL;
END
$$;

-- When a rate is changed, what has begun counts as long as the new one says, as far as the rows are still there. A claim holds the lock of the
-- row of its queue, so no row is missed.
CREATE FUNCTION ${schema}.count_by_new_rates() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    before jsonb := OLD.declared || OLD.changed;
    limits jsonb := NEW.declared || NEW.changed;
BEGIN
    IF NOT EXISTS (
        SELECT FROM unnest('{rate,burst,rate_per_key,burst_per_key,whole:rate_per_key,whole:burst_per_key}'::text[]) AS s (setting)
        WHERE limits->>s.setting IS DISTINCT FROM before->>s.setting
    ) THEN
        RETURN NULL;
    END IF;
    IF TG_TABLE_NAME = 'limiter' THEN
        UPDATE ${schema}.limiter_rate r SET
            ended_at = ${schema}.stretch_end(r.ended_at, r.since, r.expires_at),
            expires_at = ${schema}.rate_expiry(
                r.units, ${schema}.stretch_end(r.ended_at, r.since, r.expires_at), false, limits->>'rate', limits->>'burst')
        WHERE r.limiter = NEW.name AND limits->>'rate' <> 'none';
    ELSE
        UPDATE ${schema}.queue_rate r SET
            ended_at = ${schema}.stretch_end(r.ended_at, r.since, r.expires_at),
            expires_at = ${schema}.rate_expiry(
                r.units, ${schema}.stretch_end(r.ended_at, r.since, r.expires_at), r.heavy, w.rate, w.burst)
        FROM (VALUES
            (false, limits->>'rate', limits->>'burst'),
            (true, COALESCE(limits->>'whole:rate_per_key', limits->>'rate_per_key'),
                   COALESCE(limits->>'whole:burst_per_key', limits->>'burst_per_key'))) AS w (of_key, rate, burst)
        WHERE r.queue = NEW.name AND w.rate <> 'none' AND w.of_key = (r.queue_key <> '');
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER count_by_new_rates AFTER UPDATE OF declared, changed ON ${schema}.queue
    FOR EACH ROW EXECUTE FUNCTION ${schema}.count_by_new_rates();
CREATE TRIGGER count_by_new_rates AFTER UPDATE OF declared, changed ON ${schema}.limiter
    FOR EACH ROW EXECUTE FUNCTION ${schema}.count_by_new_rates();
