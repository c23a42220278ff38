-- Perdure: reactions, which start a run when another one fails, is paused or cancelled, or is late.

-- A reaction. Batches that let a run fail, pause it or cancel it look here, so a change holds at once in all processes.
CREATE TABLE ${schema}.reaction (
    late        bigint,     -- after which time a run is late, in microseconds; null: that is no occasion
    name        text        COLLATE "C" PRIMARY KEY,
    states      smallint[]  NOT NULL, -- run.state: 5 paused, 7 failed, 8 cancelled
    definitions text[]      COLLATE "C", -- of the runs that it is for; null: all
    starts      text        COLLATE "C" NOT NULL, -- the definition of the runs that it starts
    queue       text        COLLATE "C" NOT NULL, -- of these runs
    paused      text        -- why, if it is
) WITH (fillfactor = 50);

-- How far a reaction to late runs has looked at the runs, in the order of their creation. Each run is looked at when it would be late, and
-- again a minute later, because the transaction that started it may have been slow.
CREATE TABLE ${schema}.lateness (
    reached_at  timestamptz NOT NULL, -- run.created_at
    reached_key bigint      NOT NULL, -- run.key
    lag         interval    NOT NULL, -- how much later than late
    reaction    text        COLLATE "C" NOT NULL,
    PRIMARY KEY (reaction, lag)
) WITH (fillfactor = 25);

-- Reactions for people who ask in SQL.
CREATE VIEW ${schema}.reactions AS
SELECT r.name, r.definitions, ARRAY(SELECT ${schema}.state_name(s) FROM unnest(r.states) AS s) AS states,
       r.late * interval '1 microsecond' AS late, r.starts, r.queue, r.paused
FROM ${schema}.reaction r;
