-- Perdure: what the bodies of steps log.

-- The newest lines of a run. A worker inserts them in batches, and deletes the oldest if there are too many.
CREATE TABLE ${schema}.log_line (
    key       bigint      NOT NULL,
    number    bigint      NOT NULL,             -- the epoch in the upper half, the number of the line in the lower
    ordinal   bigint      NOT NULL,             -- how many lines the run has logged up to this one, with those that were dropped
    through   bigint      NOT NULL,             -- how many bytes the lines up to this one have
    at        timestamptz NOT NULL,
    position  integer     NOT NULL,
    attempt   integer     NOT NULL,
    partition smallint    NOT NULL,
    level     smallint    NOT NULL,             -- 0 TRACE, 10 DEBUG, 20 INFO, 30 WARN, 40 ERROR
    step      text        COLLATE "C" NOT NULL,
    logger    text        COLLATE "C" NOT NULL,
    text      text        NOT NULL,
    PRIMARY KEY (key, number, partition)
) WITH (
    fillfactor = 100,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.05
);

CREATE VIEW ${schema}.log_lines AS
SELECT r.id, l.number, l.at, l.position, l.step, l.attempt,
       CASE l.level WHEN 0 THEN 'TRACE' WHEN 10 THEN 'DEBUG' WHEN 20 THEN 'INFO' WHEN 30 THEN 'WARN' ELSE 'ERROR' END AS level,
       l.logger, l.text
FROM ${schema}.log_line l
JOIN ${schema}.run r ON r.key = l.key;
