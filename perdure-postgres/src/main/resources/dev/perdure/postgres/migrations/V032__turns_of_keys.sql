-- Perdure: keys that get more turns than others.

-- The time of turns: it passes as keys are served, so a key that had nothing waiting saves no turns.
ALTER TABLE ${schema}.queue ADD COLUMN virtual_time bigint NOT NULL DEFAULT 0;
-- At which of these times the next turn of the key is: one turn after the last one, or a part of that if the key gets several.
ALTER TABLE ${schema}.queue_turn ADD COLUMN next_turn bigint NOT NULL DEFAULT 0;
