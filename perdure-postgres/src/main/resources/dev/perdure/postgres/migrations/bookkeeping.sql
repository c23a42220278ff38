-- Which migrations have been applied. Before the first of them; harmless when repeated.
CREATE SCHEMA IF NOT EXISTS ${schema};

CREATE TABLE IF NOT EXISTS ${schema}.migration (
    version    integer     PRIMARY KEY,
    name       text        NOT NULL,
    checksum   text        NOT NULL, -- SHA-256 of the file as published, with the schema's name not yet put in
    applied_at timestamptz NOT NULL DEFAULT now()
);
