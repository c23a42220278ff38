package dev.perdure.internal.command;

import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.audit.Operator;
import dev.perdure.internal.text.Texts;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Clockwork;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Makes the audit entries of one operator. Thread-safe. */
public final class Auditor {
    private static final int MAX_DETAIL = 1_000;

    private final Clockwork clockwork;
    private volatile @Nullable Operator operator;

    /**
     * Makes entries.
     *
     * @param operator the operator, or null for the user of this process
     * @param clockwork the source of ids
     */
    public Auditor(@Nullable Operator operator, Clockwork clockwork) {
        this.operator = operator;
        this.clockwork = clockwork;
    }

    /** The user of this process is looked up once, and not before the first command: the host's name may need DNS. */
    public Operator operator() {
        Operator known = operator;
        if (known == null) {
            known = Operator.ofProcess();
            operator = known;
        }
        return known;
    }

    /** Of a command to a run as a whole. */
    Audit run(Action action, String run, String detail) {
        return of(action, Subject.RUN, run, 0, detail);
    }

    public Audit of(Action action, Subject subject, String name, String detail) {
        return of(action, subject, name, 0, detail);
    }

    public Audit of(Action action, Subject subject, String name, int position, String detail) {
        UUID id = new UUID(clockwork.random(), clockwork.random());
        return new Audit(id, operator(), action, subject, name, position, shortened(detail));
    }

    /** What an entry keeps of a detail. */
    public static String shortened(String detail) {
        return Texts.shortened(detail, MAX_DETAIL);
    }
}
