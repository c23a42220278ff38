package dev.perdure.postgres.read;

import dev.perdure.error.StoreException;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.spi.Journals.Page;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Recorded;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The entries of one journal as the statements of {@link JournalSql} return them, row by row, until they fill a page.
 */
final class JournalReading {
    // In the order of JournalSql.COLUMNS. Read by index, because a long journal has very many rows.
    private static final int POSITION = 1;
    private static final int SORT = 2;
    private static final int AT = 3;
    private static final int NAME = 4;
    static final int PAYLOAD = 5;
    private static final int EXTENT = 6;
    static final int RUN = 7;

    private static final byte[] NOT_YET = {};

    /**
     * An entry that came without its payload.
     *
     * @param index its index in the page
     */
    record Missing(long key, int index, Entry entry) {}

    private final long key;
    private final long mostBytes;
    private final List<Recorded> entries = new ArrayList<>();
    private final List<Missing> missing = new ArrayList<>();
    private long bytes;
    private boolean ended;
    /** The position before which the page ends, because not all of its entries may be here. */
    private int unfinished;

    JournalReading(long key, int maxBytes) {
        this.key = key;
        this.mostBytes = 4L * maxBytes;
    }

    void add(ResultSet row) throws SQLException {
        if (ended) {
            return;
        }
        unfinished = row.getInt(POSITION);
        byte[] payload = row.getBytes(PAYLOAD);
        long extent = row.getLong(EXTENT);
        bytes += payload == null ? extent >>> Integer.SIZE : payload.length;
        boolean tooMuch = bytes > mostBytes && !entries.isEmpty() && firstPosition() != unfinished;
        ended = tooMuch || entries.size() + 1 == (int) extent;
        if (ended) {
            while (!entries.isEmpty() && entries.getLast().entry().position() == unfinished) {
                entries.removeLast();
            }
            missing.removeIf(lacking -> lacking.index() >= entries.size());
            return;
        }
        Recorded recorded = recorded(row, payload == null ? NOT_YET : payload);
        if (payload == null) {
            missing.add(new Missing(key, entries.size(), recorded.entry()));
        }
        entries.add(recorded);
    }

    private int firstPosition() {
        return entries.getFirst().entry().position();
    }

    static Recorded recorded(ResultSet row, byte[] payload) throws SQLException {
        int sort = row.getInt(SORT);
        return new Recorded(
                new Entry(
                        row.getInt(POSITION),
                        sort >> 16,
                        Codes.kind(sort >>> 8 & 0xff),
                        row.getString(NAME),
                        Codes.recordedStatus(sort & 0xff),
                        new Payload(payload)),
                row.getTimestamp(AT).toInstant());
    }

    /** Whether not even one position is complete. */
    boolean isTorn() {
        return ended && entries.isEmpty();
    }

    List<Missing> missing() {
        return missing;
    }

    void complete(Missing lacking, byte @Nullable [] payload) {
        if (payload == null) {
            throw new StoreException(
                    StoreException.Kind.UNAVAILABLE, "The run began anew while its journal was read.", null);
        }
        Entry bare = lacking.entry();
        Entry whole =
                new Entry(bare.position(), bare.note(), bare.kind(), bare.name(), bare.status(), new Payload(payload));
        entries.set(
                lacking.index(),
                new Recorded(whole, entries.get(lacking.index()).at()));
    }

    Page page() {
        return new Page(entries, !ended);
    }
}
