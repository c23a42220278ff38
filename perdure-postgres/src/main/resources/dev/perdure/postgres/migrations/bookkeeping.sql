-- Which migrations have been applied. Before the first of them; harmless when repeated.

-- Some texts of the migrations have a backslash that is itself.
SET LOCAL standard_conforming_strings = on;

-- CREATE SCHEMA IF NOT EXISTS would need CREATE on the database also for a schema that the DBA has made.
DO $$
BEGIN
    IF to_regnamespace('${schema}') IS NULL THEN
        CREATE SCHEMA ${schema};
    END IF;
END
$$;

CREATE TABLE IF NOT EXISTS ${schema}.migration (
    version    integer     PRIMARY KEY,
    name       text        NOT NULL,
    checksum   text        NOT NULL, -- SHA-256 of the file as published, with the schema's name not yet put in
    applied_at timestamptz NOT NULL DEFAULT now()
);
