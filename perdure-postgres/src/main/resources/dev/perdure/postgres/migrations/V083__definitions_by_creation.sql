-- Perdure: a walk over runs by their creation passes over those of other definitions without reading their rows.

-- The second column is a hash, because it makes an entry eight bytes longer however long the name is. The server's own hash indexes store the values
-- of this function too, so they do not change with its version.
DROP INDEX ${schema}.run_created_at;
CREATE INDEX run_created_at ON ${schema}.run (created_at, hashtext(definition));

-- A condition on the definition and on its hash is one condition, not two that are seldom true together.
CREATE STATISTICS ${schema}.run_definition (dependencies) ON definition, (hashtext(definition)) FROM ${schema}.run;
