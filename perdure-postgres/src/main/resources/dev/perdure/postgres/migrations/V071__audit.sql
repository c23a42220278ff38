-- Perdure: every command that changes something leaves an entry in the audit.

-- So far it had only the answers that operators gave to awakeables, and they went with their runs. An entry now outlives what it is about.
DROP VIEW ${schema}.audits;
ALTER TABLE ${schema}.audit RENAME TO answer;

CREATE TABLE ${schema}.audit (
    id        uuid        NOT NULL, -- chosen with the command: one that is sent again leaves one entry
    at        timestamptz NOT NULL,
    position  integer     NOT NULL, -- in the journal of the run; 0: of no call
    partition smallint    NOT NULL, -- of the run; 0: of no run
    action    text        COLLATE "C" NOT NULL,
    subject   text        COLLATE "C" NOT NULL, -- RUN, QUEUE, LIMITER, SCHEDULE, RETENTION
    name      text        COLLATE "C" NOT NULL, -- of the subject
    operator  text        NOT NULL,
    origin    text        NOT NULL, -- from where the command came; empty: not known
    detail    text        NOT NULL, -- the reason, or what was changed
    PRIMARY KEY (id, partition)
) WITH (fillfactor = 100);
CREATE INDEX audit_at ON ${schema}.audit (at, id);
CREATE INDEX audit_name ON ${schema}.audit (name, at, id);

INSERT INTO ${schema}.audit (id, at, position, partition, action, subject, name, operator, origin, detail)
SELECT a.token, a.at, a.position, a.partition, ('{RESOLVE,REJECT}'::text[])[a.status + 1], 'RUN', r.id, a.operator, '', ''
FROM ${schema}.answer a
JOIN ${schema}.run r ON r.key = a.key;
DROP TABLE ${schema}.answer;

CREATE VIEW ${schema}.audits AS
SELECT at, operator, origin, action, subject, name, NULLIF(position, 0) AS position, detail, id FROM ${schema}.audit;
