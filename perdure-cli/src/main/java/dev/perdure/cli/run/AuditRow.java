package dev.perdure.cli.run;

import dev.perdure.audit.AuditEntry;
import dev.perdure.cli.output.Fields;

/** Prints entries of the audit. */
public final class AuditRow {
    /** An entry in a list. */
    public static final Fields<AuditEntry> FIELDS = Fields.<AuditEntry>of()
            .and("at", AuditEntry::at)
            .json("operator", entry -> entry.operator().name())
            .json("origin", entry -> entry.operator().origin())
            .json("action", AuditEntry::action)
            .json("subject", AuditEntry::subject)
            .json("name", AuditEntry::name)
            .json("position", AuditEntry::position)
            .json("detail", AuditEntry::detail)
            .text("command", AuditEntry::text);

    private AuditRow() {}
}
