package dev.perdure.spi;

import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RunRef;
import java.util.List;
import java.util.Map;

/** What runs have done. Read in pages bounded by bytes, so that no journal is too long for a small heap. */
public interface Journals {
    /**
     * A piece of a journal, ordered by position and note.
     *
     * @param entries whole positions only
     * @param last whether nothing follows
     */
    record Page(List<Recorded> entries, boolean last) {
        /** The journal of a run that has done nothing. */
        public static final Page EMPTY = new Page(List.of(), true);

        /** A journal that has not been looked at. */
        public static final Page UNREAD = new Page(List.of(), false);
    }

    /**
     * The entries after a position: at least one position if there is one.
     *
     * @param maxBytes how much a page has; where entries differ in size it may be up to four times as much, and a
     *     position that is more by itself is a page
     */
    Page read(RunRef run, int afterPosition, int maxBytes);

    /** The first page of many journals at once; {@code maxBytes} is for each. */
    Map<RunRef, Page> readFirst(List<RunRef> runs, int maxBytes);
}
