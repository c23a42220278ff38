package dev.perdure.spi.change;

import dev.perdure.spi.change.Entry.Kind;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a fork takes over from the journal of another run: the calls before a position that have an answer. A step that
 * has none begins anew; a sleep or a timer ends when it would have ended. Any other call without an answer belongs to
 * the other run, which alone gets the answer.
 *
 * @param copied the entries to copy, without their payloads
 * @param refusal why there can be no such fork, or null
 */
public record ForkPlan(List<Entry> copied, @Nullable String refusal) {
    /** Where the entries to copy are, in the same order. */
    public List<RetryPlan.Place> places() {
        return copied.stream()
                .map(entry -> new RetryPlan.Place(entry.position(), entry.note()))
                .toList();
    }

    /** Of a journal. The payloads do not matter. */
    public static ForkPlan of(Collection<Recorded> journal, int position) {
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
                            "%s '%s' at position %d has no answer, and only the run itself can get it. Fork from position %d or an earlier one."
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
