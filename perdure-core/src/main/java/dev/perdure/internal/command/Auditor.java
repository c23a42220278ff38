package dev.perdure.internal.command;

import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.audit.Operator;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Clockwork;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * Makes the audit entries of one operator.
 *
 * @param operator asked for with each command, because it may be expensive to find out
 * @param clockwork the source of ids
 */
public record Auditor(Supplier<Operator> operator, Clockwork clockwork) {
    private static final int MAX_DETAIL = 1_000;

    /** Of a command to a run as a whole. */
    Audit run(Action action, String run, String detail) {
        return of(action, Subject.RUN, run, 0, detail);
    }

    public Audit of(Action action, Subject subject, String name, String detail) {
        return of(action, subject, name, 0, detail);
    }

    public Audit of(Action action, Subject subject, String name, int position, String detail) {
        UUID id = new UUID(clockwork.random(), clockwork.random());
        String shortened = detail.length() > MAX_DETAIL ? detail.substring(0, MAX_DETAIL) : detail;
        return new Audit(id, operator.get(), action, subject, name, position, shortened);
    }
}
