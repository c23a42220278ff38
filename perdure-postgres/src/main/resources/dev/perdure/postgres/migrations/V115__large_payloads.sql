-- Perdure: large payloads, which are kept apart from the rows that refer to them.
--
-- Where the payload would be, a row has a reference of 48 bytes: a mark of eight bytes, the SHA-256 of the payload, and its size. Nothing
-- counts references. The rows themselves are asked: each table with payloads has an index on those that are references.

CREATE TABLE ${schema}.payload (
    reference   bytea       NOT NULL PRIMARY KEY,
    upload      uuid        NOT NULL UNIQUE, -- of its chunks
    put_at      timestamptz NOT NULL,
    released_at timestamptz                  -- since when no row has referred to it, as far as that is known
);

-- The chunks of payloads, and of uploads that are not finished or were given up. They are written once, in pieces of 1 MiB, and most
-- payloads do not get much smaller: do not compress them.
CREATE TABLE ${schema}.payload_chunk (
    upload     uuid        NOT NULL,
    number     integer     NOT NULL,
    written_at timestamptz NOT NULL,
    bytes      bytea       NOT NULL,
    PRIMARY KEY (upload, number)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE ${schema}.payload_chunk ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- Uploads, to find those that have no payload.
CREATE INDEX payload_chunk_first ON ${schema}.payload_chunk (written_at) WHERE number = 0;

CREATE INDEX journal_reference ON ${schema}.journal (payload)
    WHERE octet_length(payload) = 48 AND substring(payload FROM 1 FOR 8) = '\x007061796c6f6164'::bytea;
CREATE INDEX mail_reference ON ${schema}.mail (payload)
    WHERE octet_length(payload) = 48 AND substring(payload FROM 1 FOR 8) = '\x007061796c6f6164'::bytea;
CREATE INDEX publication_reference ON ${schema}.publication (payload)
    WHERE octet_length(payload) = 48 AND substring(payload FROM 1 FOR 8) = '\x007061796c6f6164'::bytea;

-- The values of objects are updated in place. An index on payload would end that (HOT); one on a column that is null before and after the
-- update does not.
ALTER TABLE ${schema}.object_state ADD COLUMN reference bytea GENERATED ALWAYS AS (
    CASE WHEN octet_length(payload) = 48 AND substring(payload FROM 1 FOR 8) = '\x007061796c6f6164'::bytea THEN payload END
) STORED;
CREATE INDEX object_state_reference ON ${schema}.object_state (reference) WHERE reference IS NOT NULL;

-- A large payload is shown by its size and its hash.
CREATE OR REPLACE FUNCTION ${schema}.payload_json(payload bytea) RETURNS json
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
BEGIN
    IF payload IS NULL OR length(payload) = 0 THEN
        RETURN NULL;
    END IF;
    IF octet_length(payload) = 48 AND substring(payload FROM 1 FOR 8) = '\x007061796c6f6164'::bytea THEN
        RETURN json_build_object(
            'payload', encode(substring(payload FROM 9 FOR 32), 'hex'),
            'size', ('x' || encode(substring(payload FROM 41 FOR 8), 'hex'))::bit(64)::bigint);
    END IF;
    RETURN convert_from(payload, 'UTF8')::json;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN to_json(encode(payload, 'base64'));
END
$$;
