package dev.perdure.postgres.jdbc;

import dev.perdure.spi.Audit;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An audit entry as one parameter, so that a batch without one costs no more than a null. */
public final class AuditText {
    /**
     * Records the entry if {@code done}, a relation of the statement, has a row. Its parameters are the entry and the
     * time.
     */
    public static final String WHEN_DONE = """
            audited AS (
                INSERT INTO ${schema}.audit (id, at, position, partition, action, subject, name, operator, origin, detail)
                SELECT (audit->>'id')::uuid, a.at, (audit->>'position')::int, 0, audit->>'action', audit->>'subject',
                       audit->>'name', audit->>'operator', audit->>'origin', audit->>'detail'
                FROM (SELECT ?::jsonb AS audit, COALESCE(?::timestamptz, now()) AS at) a
                WHERE audit IS NOT NULL AND EXISTS (SELECT FROM done)
                ON CONFLICT (id, partition) DO NOTHING
            )""";

    private AuditText() {}

    public static @Nullable String of(@Nullable Audit audit) {
        return audit == null
                ? null
                : Json.object(Map.of(
                        "id", audit.id().toString(),
                        "action", audit.action().name(),
                        "subject", audit.subject().name(),
                        "name", audit.name(),
                        "position", Integer.toString(audit.position()),
                        "operator", Text.storable(audit.operator().name()),
                        "origin", Text.storable(audit.operator().origin()),
                        "detail", Text.storable(audit.detail())));
    }
}
