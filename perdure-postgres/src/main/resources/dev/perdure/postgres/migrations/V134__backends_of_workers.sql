-- The server process of the connection on which a worker listens, so that other workers see at once when its process has died: the server
-- then closes its connections. All null: only the lease says whether the worker is alive.
ALTER TABLE ${schema}.worker
    ADD COLUMN backend       integer,     -- its pid
    ADD COLUMN backend_start timestamptz, -- pids are used again: with this it is unique
    ADD COLUMN backend_role  oid,         -- only some roles see when a process of this role began
    ADD COLUMN server_start  timestamptz, -- after a restart, or on another server, the pid says nothing
    ADD COLUMN missing_since timestamptz; -- when another worker first saw that the process is gone
