package dev.perdure.spi;

import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RunRef;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Reads the journals of runs, in pages bounded by bytes, so that a long journal fits into a small heap. */
public interface Journals {
    /**
     * A page of a journal, ordered by position and note.
     *
     * @param entries the entries; all notes of a position are on the same page
     * @param last whether this is the last page
     */
    record Page(List<Recorded> entries, boolean last) {
        /** The journal of a run without entries. */
        public static final Page EMPTY = new Page(List.of(), true);

        /** A journal that has not been read. */
        public static final Page UNREAD = new Page(List.of(), false);
    }

    /**
     * Reads the entries after a position: at least one position, if there is one.
     *
     * @param maxBytes the size of a page; if entries differ in size, a page may have up to four times as much, and a
     *     larger position is a page by itself
     */
    Page read(RunRef run, int afterPosition, int maxBytes);

    /** Reads the first page of many journals at once. {@code maxBytes} applies to each. */
    Map<RunRef, Page> readFirst(List<RunRef> runs, int maxBytes);

    /**
     * A place in a journal in the order of time.
     *
     * @param at when the entry before it became durable
     * @param position the position of that entry
     * @param note its note
     */
    record TimePlace(Instant at, int position, int note) {
        /** The beginning of a journal. */
        public static final TimePlace FIRST = new TimePlace(Instant.EPOCH, 0, 0);
    }

    /**
     * An entry as histories show it.
     *
     * @param recorded the entry; its payload is empty unless it is a failed attempt, a failure or headers of the present life
     * @param failedAttempts how many failed attempts of the same kind are at its position, before it and after it
     */
    record Timed(Recorded recorded, int failedAttempts) {}

    /**
     * A page of a journal in the order of time.
     *
     * @param entries the entries
     * @param last whether this is the last page
     */
    record TimedPage(List<Timed> entries, boolean last) {}

    /**
     * Reads entries, also those of the lives before a {@link dev.perdure.spi.change.Change.Rerun}, in the order in which they became durable, and of one instant by position and note: at least one, if
     * there is one, and then as many as fit into the bytes, {@code limit} at most. A store may look at all entries of
     * the run for a page, but returns no more than this.
     */
    TimedPage readByTime(RunRef run, TimePlace after, int limit, int maxBytes);
}
