package dev.perdure.postgres.jdbc;

import dev.perdure.spi.Audit;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An audit entry as one parameter, so that a batch without one costs no more than a null. */
public final class AuditText {
    /** Records the entry if {@code done}, a relation of the statement, has a row. See {@link #bind}. */
    public static final String WHEN_DONE = "audited AS (%s)".formatted(insert("moved_at", """
            (SELECT ?::text AS audit, COALESCE(?::timestamptz, now()) AS moved_at, 0 AS partition) given
            WHERE audit IS NOT NULL AND EXISTS (SELECT FROM done)"""));

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

    /** Binds the parameters of {@link #WHEN_DONE}. */
    public static void bind(Parameters parameters, @Nullable Audit audit, @Nullable Instant time) throws SQLException {
        parameters.text(of(audit)).time(time);
    }

    /** The parameters of a statement that carries out an order: its texts, then those of {@link #WHEN_DONE}. */
    public static Query.Binding order(@Nullable Audit audit, @Nullable Instant time, @Nullable String... texts) {
        return parameters -> {
            for (String text : texts) {
                parameters.text(text);
            }
            bind(parameters, audit, time);
        };
    }

    /**
     * Records the entries of a relation that has the columns {@code audit} and {@code partition}. An entry that is there
     * stays as it is.
     *
     * @param at the expression for the time
     * @param from the relation, with its conditions
     */
    public static String insert(String at, String from) {
        return """
                INSERT INTO ${schema}.audit (id, at, position, partition, action, subject, name, operator, origin, detail)
                SELECT (audit::jsonb->>'id')::uuid, %s, (audit::jsonb->>'position')::int, partition, audit::jsonb->>'action',
                       audit::jsonb->>'subject', audit::jsonb->>'name', audit::jsonb->>'operator', audit::jsonb->>'origin',
                       audit::jsonb->>'detail'
                FROM %s
                ON CONFLICT (id, partition) DO NOTHING""".formatted(at, from);
    }
}
