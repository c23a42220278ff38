package dev.perdure.audit;

import java.util.List;

/** The audit: every command that has changed something, with who gave it. Thread-safe. */
public interface Audits {
    /** Lists entries, newest first, one page at a time. */
    List<AuditEntry> list(AuditFilter filter);
}
