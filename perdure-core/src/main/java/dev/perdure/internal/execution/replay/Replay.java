package dev.perdure.internal.execution.replay;

import dev.perdure.spi.Journals;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Recorded;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The journal of one run while its code runs again. It assigns positions in order, and returns for each what is
 * recorded there. It holds only the current page and drops what lies behind.
 */
public final class Replay {
    /**
     * The code makes another call than the recorded one. Carries the message for the person who has to fix the code.
     */
    public static final class Mismatch extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Mismatch(String message) {
            super(message, null, false, false);
        }
    }

    /** The entries of one position: the notes in order, with the answer first if there is one. */
    public record Past(List<Recorded> entries) {
        static final Past NOTHING = new Past(List.of());

        public Optional<Recorded> answer() {
            return entries.isEmpty() || !isAnswer(entries.getFirst())
                    ? Optional.empty()
                    : Optional.of(entries.getFirst());
        }

        public List<Recorded> notes() {
            return answer().isEmpty() ? entries : entries.subList(1, entries.size());
        }

        private static boolean isAnswer(Recorded recorded) {
            return recorded.entry().note() == Entry.ANSWER;
        }
    }

    /**
     * What distinguishes the run from others.
     *
     * @param createdAt when it was created, if that is known: what was recorded before is a copy
     * @param knowsTokens whether the tokens of its awakeables are what they were when the journal was written
     */
    public record Origin(String run, @Nullable Instant createdAt, boolean knowsTokens) {}

    private final Origin origin;
    private final String run;
    private final IntFunction<Journals.Page> more;

    /** Ordered by position. Entries before {@code here} are behind the current position. */
    private List<Recorded> page = List.of();

    private int here;
    private int loadedTo;
    private boolean last;
    private int position;

    public Replay(Origin origin, Journals.Page first, IntFunction<Journals.Page> more) {
        this.origin = origin;
        this.run = origin.run();
        this.more = more;
        load(first);
    }

    private void load(Journals.Page next) {
        if (here == page.size()) {
            page = next.entries();
        } else {
            List<Recorded> joined = new ArrayList<>(page.subList(here, page.size()));
            joined.addAll(next.entries());
            page = joined;
        }
        here = 0;
        if (!page.isEmpty()) {
            loadedTo = page.getLast().entry().position();
        }
        last = next.last();
    }

    private void loadTo(int wanted) {
        while (!last && loadedTo < wanted) {
            load(more.apply(loadedTo));
        }
    }

    /** Takes the next position for a call, after checking that the same call is recorded there. */
    public ContextCall take(Entry.Kind kind, String name) {
        return take(kind, name, false);
    }

    /**
     * Takes the next position for a call.
     *
     * @param mayBeOpen whether the position may be empty although later positions are recorded: a future
     */
    public ContextCall take(Entry.Kind kind, String name, boolean mayBeOpen) {
        skipPatches(kind);
        ContextCall call = new ContextCall(++position, kind, name);
        here = indexOf(position);
        if (last && here == page.size()) {
            page = List.of();
            here = 0;
        }
        List<Recorded> past = at(position);
        for (Recorded recorded : past) {
            if (!recorded.entry().isKnown()) {
                throw unknown(position);
            }
            if (!matches(call, recorded)) {
                throw mismatch(
                        call,
                        ContextCall.describe(
                                recorded.entry().kind(), recorded.entry().name()));
            }
        }
        if (past.isEmpty() && !mayBeOpen) {
            requireNothingAfter(call, "nothing");
        }
        return call;
    }

    private boolean matches(ContextCall call, Recorded recorded) {
        return call.matches(recorded.entry())
                || ((isCopied(recorded) || (!origin.knowsTokens() && call.answersAwakeable()))
                        && call.matchesOfAnotherRun(recorded.entry()));
    }

    /** Whether the run is a fork, and another run has recorded this. */
    public boolean isCopied(Recorded recorded) {
        Instant created = origin.createdAt();
        return created != null && recorded.at().isBefore(created);
    }

    /** The journal does not answer this call, which the run has to carry out or to wait for before it continues. */
    public void requireNothingAfter(ContextCall call) {
        requireNothingAfter(call, at(call.position()).isEmpty() ? "nothing" : "no answer");
    }

    private void requireNothingAfter(ContextCall call, String recorded) {
        Entry later = firstFrom(position + 1);
        if (later != null) {
            throw mismatch(
                    call,
                    "%s, and later, at position %s, %s"
                            .formatted(recorded, later.position(), ContextCall.describe(later.kind(), later.name())));
        }
    }

    /** Takes a position for a call that leaves no entry, because its answer is derived. */
    public int takeDerived(String asked) {
        skipPatches(null);
        position++;
        List<Recorded> recorded = at(position);
        if (!recorded.isEmpty()) {
            Entry entry = recorded.getFirst().entry();
            throw new Mismatch(message(position, ContextCall.describe(entry.kind(), entry.name()), asked));
        }
        return position;
    }

    /** Skips a patch that the code no longer asks about: it is no longer needed. */
    private void skipPatches(Entry.@Nullable Kind asked) {
        while (asked != Entry.Kind.PATCH && isPatch(position + 1)) {
            position++;
        }
    }

    private boolean isPatch(int at) {
        Entry entry = firstFrom(at);
        return entry != null && entry.position() == at && entry.kind() == Entry.Kind.PATCH;
    }

    /** Whether this patch is recorded at the next position. */
    public boolean nextIsPatch(String id) {
        return isPatch(position + 1)
                && at(position + 1).getFirst().entry().name().equals(id);
    }

    /** The position of the latest call; 0 before the first. */
    public int position() {
        return position;
    }

    public Past past(ContextCall call) {
        List<Recorded> recorded = at(call.position());
        return recorded.isEmpty() ? Past.NOTHING : new Past(recorded);
    }

    /** Whether the journal has entries that the code has not reached yet. */
    public boolean replaying() {
        return firstFrom(position + 1) != null;
    }

    /**
     * The workflow has returned or thrown. It must have passed everything that is recorded.
     *
     * @param asked how it ended, for the message
     */
    public void finish(String asked) {
        skipPatches(null);
        Entry left = firstFrom(position + 1);
        if (left != null) {
            throw new Mismatch(message(left.position(), ContextCall.describe(left.kind(), left.name()), asked));
        }
    }

    private List<Recorded> at(int wanted) {
        int from = indexOf(wanted);
        int to = from;
        while (to < page.size() && page.get(to).entry().position() == wanted) {
            to++;
        }
        return to == from + 1 ? List.of(page.get(from)) : List.copyOf(page.subList(from, to));
    }

    private @Nullable Entry firstFrom(int from) {
        int index = indexOf(from);
        return index == page.size() ? null : page.get(index).entry();
    }

    /** The position of the first entry at or after a position. */
    private int indexOf(int wanted) {
        loadTo(wanted);
        int index = here;
        while (index < page.size() && page.get(index).entry().position() < wanted) {
            index++;
        }
        return index;
    }

    private Mismatch unknown(int at) {
        return new Mismatch(
                "The journal of run '%s' has an entry at position %s that this version of Perdure does not know. Nothing was applied. Let workers of the version that wrote it have the run, or restore the entry if it was edited, then resume the run."
                        .formatted(run, at));
    }

    private Mismatch mismatch(ContextCall call, String recorded) {
        return new Mismatch(message(call.position(), recorded, call.describe()));
    }

    public String message(int at, String recorded, String asked) {
        return ("The code does not fit the journal of run '%s' at position %s: recorded is %s, the code asked for %s. Nothing "
                        + "was applied. Bring back the code that fits, or guard the change with ctx.patched(…), then resume the run.")
                .formatted(run, at, recorded, asked);
    }
}
