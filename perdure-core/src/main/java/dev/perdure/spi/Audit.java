package dev.perdure.spi;

import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.Operator;
import java.time.Instant;
import java.util.UUID;

/**
 * What a store records of a command, in the transaction in which the command takes effect. A command that changes
 * nothing leaves no entry, and one that is sent again leaves one.
 *
 * @param id identifies the entry
 * @param operator who gives the command
 * @param action what it does
 * @param subject to what kind of thing
 * @param name the name of that thing
 * @param position the position in the journal, or 0
 * @param detail the reason, or what is changed; may be empty
 */
public record Audit(
        UUID id,
        Operator operator,
        AuditEntry.Action action,
        AuditEntry.Subject subject,
        String name,
        int position,
        String detail) {
    /** The entry of a command that took effect then. */
    public AuditEntry at(Instant time) {
        return new AuditEntry(id, time, operator, action, subject, name, position, detail);
    }
}
