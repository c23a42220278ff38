package dev.perdure.postgres;

import dev.perdure.spi.Change;
import dev.perdure.spi.Entry;
import dev.perdure.spi.Move;
import dev.perdure.spi.Payload;
import java.sql.SQLException;
import java.util.List;

/** The columns of the entries that advances append, the outcome of one that ends among them. */
final class Entries {
    final long[] keys;
    final int[] positions;
    final short[] notes;
    final short[] kinds;
    final short[] statuses;
    final String[] names;
    final byte[][] payloads;
    /** Which of the advances an entry belongs to. */
    final int[] owners;

    private int filled;

    Entries(List<Change.Advance> advances) {
        int size = 0;
        for (Change.Advance advance : advances) {
            size += advance.entries().size() + (advance.move() instanceof Move.End ? 1 : 0);
        }
        this.keys = new long[size];
        this.positions = new int[size];
        this.notes = new short[size];
        this.kinds = new short[size];
        this.statuses = new short[size];
        this.names = new String[size];
        this.payloads = new byte[size][];
        this.owners = new int[size];
        for (int i = 0; i < advances.size(); i++) {
            add(i, advances.get(i));
        }
    }

    private void add(int owner, Change.Advance advance) {
        for (Entry entry : advance.entries()) {
            notes[filled] = (short) entry.note();
            kinds[filled] = Codes.of(entry.kind());
            statuses[filled] = Codes.of(entry.status());
            add(owner, advance.run().key(), entry.position(), entry.name(), entry.payload());
        }
        if (advance.move() instanceof Move.End end) {
            add(owner, advance.run().key(), Codes.OUTCOME, "", end.outcome());
        }
    }

    private void add(int owner, long key, int position, String name, Payload payload) {
        keys[filled] = key;
        positions[filled] = position;
        names[filled] = name;
        payloads[filled] = payload.bytes();
        owners[filled] = owner;
        filled++;
    }

    void bind(Parameters parameters) throws SQLException {
        parameters.longs(keys).ints(positions).shorts(notes);
        parameters.shorts(kinds).shorts(statuses).texts(names).bytes(payloads);
    }
}
