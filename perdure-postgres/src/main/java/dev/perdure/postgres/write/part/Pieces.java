package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.change.Entries;
import dev.perdure.postgres.write.change.RunColumns;

/** Pieces that statements of batches are composed of, by the names that these have for them. */
final class Pieces {
    private Pieces() {}

    /** The statement with its pieces: {@code ${run_columns}} are the columns of a run that is started, {@code ${entries}} entries to be appended. */
    static String sql(Schema schema, String text) {
        return schema.sql(text.replace("${run_columns}", RunColumns.KEPT.names())
                .replace("${entries}", Entries.COLUMNS.many("e")));
    }
}
