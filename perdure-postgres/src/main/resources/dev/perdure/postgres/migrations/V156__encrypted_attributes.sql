-- Perdure: attributes whose values are encrypted.

-- As before, and {"encrypted": "…"} an encrypted value, in Base64.
CREATE OR REPLACE FUNCTION ${schema}.attribute_values(attributes jsonb) RETURNS TABLE (name text, kind text, value text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
    SELECT e.key, CASE jsonb_typeof(e.value) WHEN 'string' THEN 'text' WHEN 'number' THEN 'number' WHEN 'boolean' THEN 'flag'
                       WHEN 'array' THEN 'keywords' ELSE CASE WHEN e.value -> 'time' IS NULL THEN 'encrypted' ELSE 'time' END END, v.value
    FROM jsonb_each(attributes) AS e,
         jsonb_array_elements_text(CASE jsonb_typeof(e.value) WHEN 'array' THEN e.value
                                   WHEN 'object' THEN jsonb_build_array(COALESCE(e.value -> 'time', e.value -> 'encrypted'))
                                   ELSE jsonb_build_array(e.value) END) AS v (value)
$$;
