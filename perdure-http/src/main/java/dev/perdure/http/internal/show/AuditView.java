package dev.perdure.http.internal.show;

import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditFilter;
import dev.perdure.audit.Operator;
import dev.perdure.http.internal.json.Shape;
import dev.perdure.http.security.Redaction;
import dev.perdure.http.security.Redaction.Kind;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * A page of the audit as the API shows it.
 *
 * @param entries the entries
 * @param next where the next page begins, if there may be one
 */
public record AuditView(List<AuditEntry> entries, Optional<String> next) {
    private static final Shape<AuditEntry> ENTRY = Shape.<AuditEntry>named("AuditEntry")
            .text("id", "Identifies the entry.", AuditEntry::id)
            .time("at", "When the command took effect.", AuditEntry::at)
            .text("operator", "Who gave it.", entry -> entry.operator().name())
            .text("origin", "From where.", entry -> entry.operator().origin())
            .text("action", "What was done.", AuditEntry::action)
            .text("subject", "To what kind of thing.", AuditEntry::subject)
            .text("name", "The name of that thing.", AuditEntry::name)
            .number("position", "The position in the journal, or 0.", AuditEntry::position)
            .text("detail", "The reason, or what was changed.", AuditEntry::detail);

    /** What it looks like. */
    public static final Shape<AuditView> PAGE = Shape.<AuditView>named("AuditPage")
            .list("entries", "Newest first.", ENTRY, AuditView::entries)
            .text("next", Paging.NEXT, AuditView::next);

    /** The page that a filter selects. */
    public static AuditView page(Services services, AuditFilter filter) {
        List<AuditEntry> entries = services.perdure().audit().list(filter);
        return new AuditView(
                entries.stream().map(entry -> redacted(entry, services.shown())).toList(),
                entries.size() < filter.limit() ? Optional.empty() : Optional.of(encoded(entries.getLast())));
    }

    /** A reason is a text of the same kind as the failure that it may have become. */
    private static AuditEntry redacted(AuditEntry entry, Shown shown) {
        return new AuditEntry(
                entry.id(),
                entry.at(),
                entry.operator(),
                entry.action(),
                entry.subject(),
                entry.name(),
                entry.position(),
                shown.text(new Redaction.Subject(Kind.FAILURE, "", entry.name()), entry.detail()));
    }

    private static String encoded(AuditEntry last) {
        return Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString((last.at() + "\n" + last.id()).getBytes(StandardCharsets.UTF_8));
    }

    /** The last entry of the page before, by its place. */
    public static AuditEntry decoded(String place) {
        try {
            String text = new String(Base64.getUrlDecoder().decode(place), StandardCharsets.UTF_8);
            int line = text.indexOf('\n');
            return new AuditEntry( // only id and time of the last entry tell where the next page begins
                    UUID.fromString(text.substring(line + 1)),
                    Paging.time(text.substring(0, Math.max(line, 0))),
                    Operator.named("unknown"),
                    AuditEntry.Action.CHANGE,
                    AuditEntry.Subject.RETENTION,
                    "",
                    0,
                    "");
        } catch (IllegalArgumentException wrong) {
            throw Paging.unknownPlace();
        }
    }
}
