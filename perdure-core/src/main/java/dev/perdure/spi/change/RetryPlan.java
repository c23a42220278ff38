package dev.perdure.spi.change;

import dev.perdure.spi.change.Entry.Kind;
import dev.perdure.spi.change.Entry.Status;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a retry removes from the journal of a run, so that the run continues at the call that failed.
 *
 * <p>The call that failed is the last one whose answer is a failure, the cancel or the deadline. A step that failed is
 * removed with its attempts and begins anew; of a call that got the cancel or the deadline only that is removed, and
 * the call goes on. If there is none, the workflow itself threw, and the run continues behind its last entry.
 *
 * <p>The first repair of a run that has ended carries this plan out, and its answer has a time after the end of the
 * run. Nothing else has: a run that has ended records nothing. So a later plan removes nothing more, and a retry
 * continues with the answers that were given by hand. From then on they count like any other answer.
 *
 * @param removed the entries to remove
 * @param refusal why the run cannot be retried, or null
 */
public record RetryPlan(List<Place> removed, @Nullable String refusal) {
    private static final Comparator<Recorded> BY_TIME = Comparator.comparing(Recorded::at)
            .thenComparingInt(recorded -> recorded.entry().position());

    /** An entry. */
    public record Place(int position, int note) {}

    /**
     * Of the journal of a run that has ended. The payloads do not matter.
     *
     * @param ended when the run ended
     */
    public static RetryPlan of(Collection<Recorded> journal, Instant ended) {
        if (journal.stream().anyMatch(recorded -> recorded.at().isAfter(ended))) {
            return new RetryPlan(List.of(), null);
        }
        Optional<Recorded> failed = journal.stream().filter(RetryPlan::failed).max(BY_TIME);
        Set<Place> removed = new HashSet<>();
        if (failed.isPresent()) {
            Entry failure = failed.get().entry();
            if (failure.status() == Status.FAILURE && !isStep(failure)) {
                return refused(journal, "%s failed, and would fail again.".formatted(describe(failure)));
            }
            for (Recorded recorded : journal) {
                Entry entry = recorded.entry();
                boolean same = entry.position() == failure.position();
                boolean later = !same && BY_TIME.compare(recorded, failed.get()) > 0;
                if (later
                        && entry.kind() != Kind.AWAIT
                        && entry.kind() != Kind.CHOICE
                        && entry.status() != Status.ATTEMPT) {
                    return refused(
                            journal,
                            "%s was recorded after the failure of %s.".formatted(describe(entry), describe(failure)));
                }
                if (later || (same && (failure.status() == Status.FAILURE || entry.note() == Entry.ANSWER))) {
                    removed.add(new Place(entry.position(), entry.note()));
                }
            }
        }
        return openEvent(journal)
                .map(event -> refused(
                        journal,
                        "%s was not answered, and the run has missed events since its end.".formatted(describe(event))))
                .orElseGet(() -> new RetryPlan(List.copyOf(removed), null));
    }

    /** What a repair of a step removes: its answer is replaced, and its attempts stay. */
    public List<Place> removedBeside(int position) {
        return removed.stream().filter(place -> place.position() != position).toList();
    }

    private static RetryPlan refused(Collection<Recorded> journal, String why) {
        OptionalInt undone = ForkPlan.undone(journal);
        String instead = undone.isPresent()
                ? "Its saga has undone what it did from position %s on: let it begin anew (rerun), or fork it from position %s or an earlier one."
                        .formatted(undone.getAsInt(), undone.getAsInt())
                : "Let the run begin anew (rerun), or fork it from before all that it has undone.";
        return new RetryPlan(List.of(), why + " " + instead);
    }

    private static boolean failed(Recorded recorded) {
        Entry entry = recorded.entry();
        return entry.note() == Entry.ANSWER
                && (entry.status() == Status.FAILURE
                        || entry.status() == Status.CANCELLED
                        || entry.status() == Status.DEADLINE);
    }

    private static boolean isStep(Entry entry) {
        return entry.kind() == Kind.STEP || entry.kind() == Kind.TRANSACTION;
    }

    /** A run that has ended gets no events, and the store may have forgotten that it waited for them. */
    private static Optional<Entry> openEvent(Collection<Recorded> journal) {
        Set<Integer> answered = new HashSet<>();
        List<Entry> events = new ArrayList<>();
        for (Recorded recorded : journal) {
            Entry entry = recorded.entry();
            if (entry.note() == Entry.ANSWER && !failed(recorded)) {
                answered.add(entry.position());
            }
            if (entry.kind() == Kind.EVENT) {
                events.add(entry);
            }
        }
        return events.stream()
                .filter(event -> !answered.contains(event.position()))
                .findFirst();
    }

    private static String describe(Entry entry) {
        return ForkPlan.isUndone(entry)
                ? "The undoing at position %s".formatted(entry.position())
                : "%s '%s' at position %s".formatted(entry.kind(), entry.name(), entry.position());
    }
}
