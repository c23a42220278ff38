package dev.perdure.postgres.write.change;

import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Payload;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** The entries that transitions append, including the outcomes of runs that end. */
public final class Entries {
    /**
     * An entry to be appended.
     *
     * @param owner the index of the transition that appends it
     */
    public record Row(
            int owner, long key, int position, short note, short kind, short status, String name, Payload payload) {
        private static Row of(int owner, long key, Entry entry) {
            return new Row(
                    owner,
                    key,
                    entry.position(),
                    (short) entry.note(),
                    Codes.of(entry.kind()),
                    Codes.of(entry.status()),
                    entry.name(),
                    entry.payload());
        }

        private static Row outcome(int owner, long key, Payload outcome) {
            return new Row(owner, key, Codes.OUTCOME, (short) 0, (short) 0, (short) 0, "", outcome);
        }
    }

    public static final Columns<Row> COLUMNS = Columns.<Row>of()
            .bigint("key", Row::key)
            .integer("position", Row::position)
            .smallint("note", Row::note)
            .smallint("kind", Row::kind)
            .smallint("status", Row::status)
            .text("name", Row::name)
            .bytes("payload", row -> row.payload().bytes());

    /** The identities of entries, and their contents. */
    public static final Columns<Row> PLACES = Columns.<Row>of()
            .bigint("key", Row::key)
            .integer("position", Row::position)
            .smallint("note", Row::note)
            .bytes("payload", row -> row.payload().bytes());

    public final List<Row> rows = new ArrayList<>();

    public Entries(List<Change.Advance> advances) {
        for (int i = 0; i < advances.size(); i++) {
            Change.Advance advance = advances.get(i);
            long key = advance.run().key();
            for (Entry entry : advance.entries()) {
                rows.add(Row.of(i, key, entry));
            }
            if (advance.move() instanceof Move.End end) {
                rows.add(Row.outcome(i, key, end.outcome()));
            }
        }
    }

    public int size() {
        return rows.size();
    }

    public void bind(Parameters parameters) throws SQLException {
        COLUMNS.bind(parameters, rows);
    }
}
