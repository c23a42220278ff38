-- Perdure: tasks that callers request in their own transactions keep the weight of their graph.

ALTER TABLE ${schema}.inbox_task ADD COLUMN weight integer; -- null: one
