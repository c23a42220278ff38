package dev.perdure.spi;

import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RunRef;
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
}
