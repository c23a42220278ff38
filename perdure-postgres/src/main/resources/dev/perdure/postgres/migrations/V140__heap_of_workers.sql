-- Perdure: the heap of a worker's process, for those who look at the workers.

-- Written with each renewal of the lease; null before the first one. Both are in bytes.
ALTER TABLE ${schema}.worker
    ADD COLUMN heap_used bigint, -- with what the next collection frees
    ADD COLUMN heap_max  bigint;
