-- Three roles. The owner is whoever ran the migrations; run this as the owner, and again after every migration.
-- Roles are the DBA's to create: CREATE ROLE perdure_worker; CREATE ROLE perdure_viewer; then GRANT them to login roles.

-- A worker reads and writes rows. It cannot change the schema. It deletes runs, with everything that belongs to them, when their
-- retention is over.
GRANT USAGE ON SCHEMA ${schema} TO ${worker};
GRANT SELECT, INSERT, UPDATE ON ${schema}.run, ${schema}.worker TO ${worker};
GRANT DELETE ON ${schema}.run, ${schema}.worker TO ${worker};
GRANT SELECT, UPDATE ON ${schema}.retention TO ${worker};
GRANT SELECT, INSERT, UPDATE, DELETE ON ${schema}.removal TO ${worker};
GRANT SELECT, INSERT, UPDATE, DELETE ON ${schema}.journal, ${schema}.mail, ${schema}.report, ${schema}.publication TO ${worker};
GRANT SELECT, INSERT, DELETE ON ${schema}.event, ${schema}.awakeable, ${schema}.audit, ${schema}.attribute, ${schema}.log_line
    TO ${worker};
GRANT SELECT ON ${schema}.secret TO ${worker};
GRANT SELECT, INSERT, UPDATE, DELETE ON ${schema}.subscription TO ${worker};
GRANT SELECT, INSERT, UPDATE, DELETE ON ${schema}.lane, ${schema}.takeover, ${schema}.held, ${schema}.ready, ${schema}.timer,
    ${schema}.start_limit, ${schema}.start_key, ${schema}.inbox TO ${worker};
GRANT SELECT, INSERT, DELETE ON ${schema}.inbox_task TO ${worker};
GRANT SELECT, UPDATE ON ${schema}.inbox_lock TO ${worker};
GRANT SELECT, INSERT, UPDATE, DELETE ON ${schema}.object, ${schema}.object_call TO ${worker};
GRANT SELECT, INSERT, UPDATE, DELETE ON ${schema}.object_state TO ${worker};
GRANT SELECT, INSERT, UPDATE ON ${schema}.queue, ${schema}.limiter TO ${worker};
GRANT SELECT, INSERT, UPDATE, DELETE ON ${schema}.reaction, ${schema}.lateness TO ${worker};
GRANT SELECT, INSERT, UPDATE, DELETE ON ${schema}.slot, ${schema}.queue_turn, ${schema}.queue_rate,
    ${schema}.permit, ${schema}.limiter_rate TO ${worker};
GRANT SELECT, INSERT, DELETE ON ${schema}.drain TO ${worker};
GRANT SELECT, INSERT ON ${schema}.shard TO ${worker};
GRANT SELECT, INSERT, UPDATE, DELETE ON ${schema}.share TO ${worker};
GRANT SELECT ON ${schema}.closed_partition TO ${worker};
GRANT INSERT ON ${schema}.partition_change TO ${worker};
GRANT SELECT, INSERT, DELETE ON ${schema}.outgoing, ${schema}.parent_elsewhere TO ${worker};
GRANT SELECT, INSERT, UPDATE, DELETE ON ${schema}.payload, ${schema}.payload_chunk TO ${worker};
GRANT USAGE ON SEQUENCE ${schema}.key_block TO ${worker};
GRANT SELECT ON ${schema}.migration, ${schema}.runs, ${schema}.journals, ${schema}.events, ${schema}.mails,
    ${schema}.publications, ${schema}.objects, ${schema}.object_calls, ${schema}.object_states, ${schema}.audits,
    ${schema}.queues, ${schema}.queue_keys, ${schema}.schedules, ${schema}.limiters, ${schema}.reports, ${schema}.log_lines, ${schema}.reactions TO ${worker};

-- A viewer reads the views and nothing else: above all not the table secret, by which anybody could answer awakeables.
GRANT USAGE ON SCHEMA ${schema} TO ${viewer};
GRANT SELECT ON ${schema}.runs, ${schema}.journals, ${schema}.events, ${schema}.mails, ${schema}.publications,
    ${schema}.objects, ${schema}.object_calls, ${schema}.object_states, ${schema}.audits, ${schema}.queues,
    ${schema}.queue_keys, ${schema}.schedules, ${schema}.limiters, ${schema}.reports, ${schema}.log_lines, ${schema}.reactions TO ${viewer};
