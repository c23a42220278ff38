-- Perdure: the headers that interceptors give a run at its start, one name=value in each line. Null, which takes no room, if there are none.

ALTER TABLE ${schema}.run ADD COLUMN headers text;
ALTER TABLE ${schema}.inbox ADD COLUMN headers text;
