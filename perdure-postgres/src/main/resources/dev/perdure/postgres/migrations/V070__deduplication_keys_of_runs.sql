-- Perdure: a run knows the deduplication key that it has until it has ended.

-- A retry gives the key back to the run, or is refused if another run has it now. The table start_key knows only the latest run of a key, and
-- not until when it has it. So the retry of a run that was started by an earlier version does not look at the key.
ALTER TABLE ${schema}.run ADD start_key text COLLATE "C"; -- NULL: none
