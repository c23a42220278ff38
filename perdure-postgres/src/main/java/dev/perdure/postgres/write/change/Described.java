package dev.perdure.postgres.write.change;

import dev.perdure.attribute.AttributeValue;
import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Descriptions;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What the transitions of a batch say about their own runs: attributes and status. The last value counts. */
public final class Described {
    private static final class Row {
        private final Change.Advance sender;
        private final Map<String, @Nullable AttributeValue> attributes = new LinkedHashMap<>();
        private @Nullable String status;

        private Row(Change.Advance sender) {
            this.sender = sender;
        }
    }

    private static final Columns<Row> COLUMNS = Columns.<Row>of()
            .bigint("key", row -> row.sender.run().key())
            .bigint("epoch", row -> Endings.epoch(row.sender))
            .jsonb("attributes", row -> Objects.requireNonNullElse(Descriptions.json(row.attributes), "{}"))
            .text("status", row -> row.status);

    private final Map<Long, Row> rows = new LinkedHashMap<>();

    void set(Change.Advance sender, Effect.SetAttribute set) {
        rowOf(sender).attributes.put(set.name(), set.value());
    }

    void set(Change.Advance sender, Effect.SetStatus set) {
        rowOf(sender).status = set.text();
    }

    private Row rowOf(Change.Advance sender) {
        return rows.computeIfAbsent(sender.run().key(), key -> new Row(sender));
    }

    public boolean isEmpty() {
        return rows.isEmpty();
    }

    /** The runs. */
    public List<Long> keys() {
        return new ArrayList<>(rows.keySet());
    }

    /** The statement with the columns of all of these. */
    public static String put(String statement) {
        return statement.replace("${described}", COLUMNS.many("g"));
    }

    public void bind(Parameters parameters) throws SQLException {
        COLUMNS.bind(parameters, List.copyOf(rows.values()));
    }
}
