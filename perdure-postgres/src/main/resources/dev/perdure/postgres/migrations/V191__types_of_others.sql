-- Perdure: functions find no types of whoever calls them.

-- PostgreSQL looks for types in the caller's pg_temp first, unless the path names it. A viewer could plant a domain there, whose check then
-- ran with the rights of the owner.
DO $$
DECLARE
    ours regprocedure;
BEGIN
    FOR ours IN
        SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = '${schema}'::regnamespace AND 'search_path=pg_catalog' = ANY (p.proconfig)
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, pg_temp', ours);
    END LOOP;
END
$$;
