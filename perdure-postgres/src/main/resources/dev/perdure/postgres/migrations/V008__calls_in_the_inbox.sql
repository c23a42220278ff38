-- Perdure: calls of virtual objects that are made in callers' transactions.

-- Of which object the run to be is a call, and how it stands to it, as in object_call; null: of none.
ALTER TABLE ${schema}.inbox
    ADD hold        smallint,
    ADD object_type text,
    ADD object_key  text,
    ADD CHECK (num_nulls(hold, object_type, object_key) IN (0, 3));
