package dev.perdure.internal.engine;

import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.internal.command.Auditor;
import dev.perdure.internal.text.Texts;
import dev.perdure.retention.Retention;
import dev.perdure.retention.RetentionInfo;
import dev.perdure.retention.Retentions;
import dev.perdure.spi.Removals;

/** The retention as operators see and change it, on top of the store. */
final class EngineRetentions implements Retentions {
    private final Removals removals;
    private final Auditor auditor;

    EngineRetentions(Removals removals, Auditor auditor) {
        this.removals = removals;
        this.auditor = auditor;
    }

    @Override
    public RetentionInfo info() {
        return removals.info();
    }

    @Override
    public void change(Retention retention) {
        Texts.requireGiven("retention", retention);
        removals.change(retention, auditor.of(Action.CHANGE, Subject.RETENTION, "", retention.toString()));
    }

    @Override
    public void reset() {
        removals.change(null, auditor.of(Action.RESET, Subject.RETENTION, "", ""));
    }
}
