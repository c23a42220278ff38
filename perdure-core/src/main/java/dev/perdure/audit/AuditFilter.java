package dev.perdure.audit;

import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Texts;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Selects the entries that {@link Audits#list(AuditFilter)} returns, newest first, one page at a time. Immutable. The
 * next page is {@code filter.after(lastOfTheList)}.
 */
public final class AuditFilter {
    private static final int DEFAULT_LIMIT = 100;
    private static final int MAX_LIMIT = 10_000;
    private static final AuditFilter ALL = new AuditFilter(null, null, null, DEFAULT_LIMIT);

    private final @Nullable Subject subject;
    private final @Nullable String name;
    private final @Nullable AuditEntry after;
    private final int limit;

    private AuditFilter(@Nullable Subject subject, @Nullable String name, @Nullable AuditEntry after, int limit) {
        if (limit < 1 || limit > MAX_LIMIT) {
            throw new InvalidRequestException(
                    "The limit is %s; it is 1 to %s. Page with after(…).".formatted(limit, MAX_LIMIT));
        }
        this.subject = subject;
        this.name = name;
        this.after = after;
        this.limit = limit;
    }

    /** All entries, 100 per page. */
    public static AuditFilter all() {
        return ALL;
    }

    /** Only commands to this run. */
    public static AuditFilter run(String id) {
        return ALL.of(Subject.RUN, id);
    }

    /** Only commands to this thing. */
    public AuditFilter of(Subject kind, String called) {
        Texts.requireGiven("subject", kind);
        Texts.requireGiven("name", called);
        if (!called.isEmpty()) { // The retention has no name.
            Texts.requireName("name", called);
        }
        return new AuditFilter(kind, called, after, limit);
    }

    /** Only entries that are older than this one. */
    public AuditFilter after(AuditEntry last) {
        Texts.requireGiven("last entry", last);
        return new AuditFilter(subject, name, last, limit);
    }

    /** At most so many entries. */
    public AuditFilter limit(int most) {
        return new AuditFilter(subject, name, after, most);
    }

    /** The kind of thing, if it was given. */
    public Optional<Subject> subject() {
        return Optional.ofNullable(subject);
    }

    /** The name of the thing, if it was given. */
    public Optional<String> name() {
        return Optional.ofNullable(name);
    }

    /** The last entry of the page before, if there is one. */
    public Optional<AuditEntry> after() {
        return Optional.ofNullable(after);
    }

    /** The most entries of a page. */
    public int limit() {
        return limit;
    }
}
