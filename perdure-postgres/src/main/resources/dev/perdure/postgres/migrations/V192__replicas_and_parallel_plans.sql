-- Perdure: beside logical replication and parallel plans.

-- A publication for all tables refuses updates and deletes of rows without a key.
ALTER TABLE ${schema}.ready ADD CONSTRAINT ready_run PRIMARY KEY USING INDEX ready_run;
ALTER TABLE ${schema}.partition_change ADD COLUMN number uuid DEFAULT gen_random_uuid() PRIMARY KEY;

-- What catches an exception takes a subtransaction, and a parallel plan may not begin one.
DO $$
DECLARE
    catching regprocedure;
BEGIN
    FOR catching IN
        SELECT p.oid FROM pg_proc p WHERE p.pronamespace = '${schema}'::regnamespace AND p.prosrc ~ 'EXCEPTION\s+WHEN'
    LOOP
        EXECUTE format('ALTER FUNCTION %s PARALLEL UNSAFE', catching);
    END LOOP;
END
$$;
