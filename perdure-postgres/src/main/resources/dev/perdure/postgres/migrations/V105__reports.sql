-- Perdure: what attempts at steps report while they run.

-- The latest report of a position. Workers write it about once a second while a step reports something, so rows are updated in place, on their page.
CREATE TABLE ${schema}.report (
    key               bigint      NOT NULL,
    version           bigint      NOT NULL,           -- the epoch in the upper half, the number of the report in the lower
    heartbeat_version bigint      NOT NULL,           -- that of the report with the latest heartbeat; 0 if there was none
    at                timestamptz NOT NULL,
    fraction          double precision,               -- from 0 to 1, if the attempt has said it
    position          integer     NOT NULL,
    attempt           integer     NOT NULL,
    restarts          integer     NOT NULL,           -- the life of the run to which it belongs
    partition         smallint    NOT NULL,
    step              text        COLLATE "C" NOT NULL,
    message           text        NOT NULL,
    heartbeat         bytea,                          -- for the next attempt
    PRIMARY KEY (key, position, partition)
) WITH (
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.05
);

CREATE VIEW ${schema}.reports AS
SELECT r.id, o.position, o.step, o.attempt, o.at, o.fraction, o.message, ${schema}.payload_json(o.heartbeat) AS heartbeat
FROM ${schema}.report o
JOIN ${schema}.run r ON r.key = o.key AND r.restarts = o.restarts;
