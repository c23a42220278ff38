-- Perdure: virtual objects.
--
-- A call of an object is a run; which object it calls is in a row beside it, so that other runs pay nothing. Which run holds an object is
-- on the object's row. A batch locks that row before any run, and only then changes the holder or the order of the calls that wait: so the
-- order of arrival is the order of locking, and no call waits for a free object.

CREATE TABLE ${schema}.object (
    holder    bigint,                      -- key of the run that holds it
    arrivals  bigint   NOT NULL DEFAULT 0, -- how many calls have ever had to wait: the number of the latest
    partition smallint NOT NULL,           -- a hash of type and key
    type      text     COLLATE "C" NOT NULL,
    key       text     COLLATE "C" NOT NULL,
    PRIMARY KEY (type, key, partition)
) WITH (
    -- Two updates a call: room for them keeps them HOT.
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_analyze_scale_factor = 0.02
);

-- Which object a run calls.
CREATE TABLE ${schema}.object_call (
    key         bigint   NOT NULL, -- of the run
    number      bigint,            -- its place among the calls that wait for their turn; null: it does not wait
    partition   smallint NOT NULL,
    hold        smallint NOT NULL, -- 0 shared, 1 exclusive, 2 exclusive, but not arrived yet
    object_type text     COLLATE "C" NOT NULL,
    object_key  text     COLLATE "C" NOT NULL,
    PRIMARY KEY (key, partition)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- Which call is next.
CREATE UNIQUE INDEX object_call_waiting ON ${schema}.object_call (object_type, object_key, number, partition)
    WHERE number IS NOT NULL;

-- The values of objects.
CREATE TABLE ${schema}.object_state (
    partition   smallint NOT NULL, -- of the object
    object_type text     COLLATE "C" NOT NULL,
    object_key  text     COLLATE "C" NOT NULL,
    name        text     COLLATE "C" NOT NULL,
    payload     bytea    NOT NULL,
    PRIMARY KEY (object_type, object_key, name, partition)
) WITH (
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_analyze_scale_factor = 0.02
);
