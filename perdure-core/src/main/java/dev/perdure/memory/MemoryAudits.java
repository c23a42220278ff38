package dev.perdure.memory;

import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditFilter;
import dev.perdure.retention.Retention;
import dev.perdure.spi.Audit;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The audit entries, by their ids. */
final class MemoryAudits {
    private static final Comparator<AuditEntry> NEWEST_FIRST = Comparator.comparing(AuditEntry::at)
            .thenComparing(entry -> entry.id().toString())
            .reversed();

    private final Supplier<Instant> clock;
    private final Map<UUID, AuditEntry> entries = new LinkedHashMap<>();

    MemoryAudits(Supplier<Instant> clock) {
        this.clock = clock;
    }

    /** Records a command that has taken effect, unless the engine gave it by itself. */
    void add(@Nullable Audit audit) {
        if (audit != null) {
            entries.putIfAbsent(audit.id(), audit.at(clock.get()));
        }
    }

    /** Whether the command has taken effect before. */
    boolean has(Audit audit) {
        return entries.containsKey(audit.id());
    }

    List<AuditEntry> list(AuditFilter filter) {
        return entries.values().stream()
                .filter(entry -> filter.subject()
                        .map(subject -> subject == entry.subject())
                        .orElse(true))
                .filter(entry ->
                        filter.name().map(name -> name.equals(entry.name())).orElse(true))
                .filter(entry -> filter.after()
                        .map(last -> NEWEST_FIRST.compare(last, entry) < 0)
                        .orElse(true))
                .sorted(NEWEST_FIRST)
                .limit(filter.limit())
                .toList();
    }

    /** Removes entries that are older than this. */
    void remove(Duration period) {
        if (!period.equals(Retention.FOREVER)) {
            Instant oldest = clock.get().minus(period);
            entries.values().removeIf(entry -> !entry.at().isAfter(oldest));
        }
    }
}
