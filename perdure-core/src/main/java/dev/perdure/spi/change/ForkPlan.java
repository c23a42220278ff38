package dev.perdure.spi.change;

import dev.perdure.spi.change.Entry.Kind;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a fork takes over from the journal of another run: the calls before a position that have an answer. A step that
 * has none begins anew; a sleep or a timer ends when it would have ended. Any other call without an answer belongs to
 * the other run, which alone gets the answer. The copies have times before the creation of the fork. What a saga has undone is taken over only if the fork may.
 *
 * @param copied the entries to copy, without their payloads
 * @param refusal why there can be no such fork, or null
 */
public record ForkPlan(List<Entry> copied, @Nullable String refusal) {
    private static final String UNDONE = "perdure.undone-from-";

    /** The name of the {@link Kind#PATCH} entry by which a saga records that it undoes what was done from a position on. */
    public static String undone(int first) {
        return UNDONE + first;
    }

    static boolean isUndone(Entry entry) {
        return entry.kind() == Kind.PATCH && entry.name().matches(UNDONE + "[0-9]{1,9}");
    }

    /** The first position that a saga has undone. */
    static OptionalInt undone(Collection<Recorded> journal) {
        return journal.stream()
                .map(Recorded::entry)
                .filter(ForkPlan::isUndone)
                .mapToInt(entry -> Integer.parseInt(entry.name().substring(UNDONE.length())))
                .min();
    }

    /** Where the entries to copy are, in the same order. */
    public List<RetryPlan.Place> places() {
        return copied.stream()
                .map(entry -> new RetryPlan.Place(entry.position(), entry.note()))
                .toList();
    }

    /**
     * Of a journal. The payloads do not matter.
     *
     * @param compensated whether it may take over what a saga has undone
     */
    public static ForkPlan of(Collection<Recorded> journal, int position, boolean compensated) {
        OptionalInt undone = undone(journal);
        if (!compensated && undone.isPresent() && position > undone.getAsInt()) {
            return new ForkPlan(
                    List.of(),
                    "Its saga has undone what it did from position %s on, and the fork would take that over. Fork it from position %s or an earlier one, or allow that with allowCompensated."
                            .formatted(undone.getAsInt(), undone.getAsInt()));
        }
        Set<Integer> answered = new HashSet<>();
        for (Recorded recorded : journal) {
            if (recorded.entry().note() == Entry.ANSWER) {
                answered.add(recorded.entry().position());
            }
        }
        List<Entry> copied = new ArrayList<>();
        for (Recorded recorded : journal) {
            Entry entry = recorded.entry();
            if (entry.position() < position) {
                boolean whole = answered.contains(entry.position());
                boolean waits = entry.kind() == Kind.SLEEP || entry.kind() == Kind.TIMER;
                if (!whole && !waits && entry.kind() != Kind.STEP && entry.kind() != Kind.TRANSACTION) {
                    return new ForkPlan(
                            List.of(),
                            "%s '%s' at position %s has no answer, and only the run itself can get it. Fork from position %s or an earlier one."
                                    .formatted(entry.kind(), entry.name(), entry.position(), entry.position()));
                }
                if (whole || waits) {
                    copied.add(entry.with(Payload.EMPTY));
                }
            }
        }
        return new ForkPlan(copied, null);
    }
}
