package dev.perdure.postgres.payload;

import dev.perdure.RunId;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.EncryptedPayload;
import dev.perdure.spi.payload.StoredValues;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Finds and replaces the bytes of encrypted values, table by table. */
public final class PostgresValues implements StoredValues {
    /** How many rows one query looks at. */
    private static final int ROWS = 500;

    private final Database database;
    private final ValueSql sql;

    public PostgresValues(Database database, Schema schema, String settings) {
        this.database = database;
        this.sql = new ValueSql(schema, settings);
    }

    // ---- reading

    /**
     * What a query has looked at.
     *
     * @param place where a walk goes on after this row
     * @param value its value; null if the query was not looking for it
     * @param looked how many rows the query has looked at; it returns fewer if they have too many bytes
     */
    private record Row(List<String> place, @Nullable Value value, int looked) {}

    @Override
    public Page read(List<String> after, String key) {
        List<String> from = after.isEmpty() ? ValueTable.INBOX.beginning() : after;
        ValueTable table = ValueTable.of(from);
        byte[] header = EncryptedPayload.header(key);
        List<Row> rows = new Query(database)
                .byIndex(
                        sql.of(table).find(),
                        parameters -> {
                            parameters.integer(header.length).bytes(header);
                            for (String part : from.subList(1, from.size())) {
                                parameters.text(part);
                            }
                            parameters.integer(ROWS);
                        },
                        row -> read(table, row));
        List<Value> values = new ArrayList<>();
        for (Row row : rows) {
            if (row.value() != null) {
                values.add(row.value());
            }
        }
        return new Page(values, isEnd(rows) ? table.end() : rows.getLast().place());
    }

    /** A row with attributes comes once for each of them. */
    private static boolean isEnd(List<Row> rows) {
        long places = rows.stream().map(Row::place).distinct().count();
        return rows.isEmpty() || (places < ROWS && rows.size() == rows.getLast().looked());
    }

    private static Row read(ValueTable table, ResultSet row) throws SQLException {
        List<String> key = new ArrayList<>();
        for (String label : table.labels()) {
            key.add(row.getString(label));
        }
        List<String> place = table.address(key);
        byte[] payload = row.getBytes("payload");
        // A row without a run is being removed with it.
        boolean orphan = table != ValueTable.STATE && row.getString("id") == null;
        Value value = payload == null || orphan
                ? null
                : new Value(address(table, place, row), site(table, row), new Payload(payload));
        return new Row(place, value, row.getInt("looked"));
    }

    private static List<String> address(ValueTable table, List<String> place, ResultSet row) throws SQLException {
        if (!table.hasAttributes()) {
            return place;
        }
        List<String> address = new ArrayList<>(place);
        address.add(row.getString("name"));
        return address;
    }

    private static Site site(ValueTable table, ResultSet row) throws SQLException {
        return switch (table) {
            case STATE -> new Site.State(object(row), row.getString("name"));
            case INBOX -> row.getInt("wish") == Codes.START ? new Site.Input(run(row)) : mailed(row);
            case MAIL -> mailed(row);
            case PUBLICATION -> new Site.Published(run(row), row.getString("name"));
            case REPORT -> new Site.Position(run(row), row.getInt("position"), null, "");
            case JOURNAL -> recorded(row);
            case INBOX_ATTRIBUTES, RUN_ATTRIBUTES -> new Site.Attribute(run(row), row.getString("name"));
        };
    }

    private static Site recorded(ResultSet row) throws SQLException {
        int position = row.getInt("position");
        return switch (position) {
            case Codes.INPUT -> new Site.Input(run(row));
            case Codes.OUTCOME -> new Site.Result(run(row));
            default ->
                new Site.Position(
                        run(row),
                        position,
                        StoredValues.isState(Codes.kind(row.getInt("kind"))) && row.getString("object_type") != null
                                ? object(row)
                                : null,
                        row.getString("name"));
        };
    }

    private static Site mailed(ResultSet row) throws SQLException {
        Channel.Kind kind = Codes.channel(row.getInt("channel"));
        return new Site.Mailed(run(row), new Channel(kind, row.getInt("position"), row.getString("name")));
    }

    private static RunId run(ResultSet row) throws SQLException {
        return RunId.of(row.getString("id"));
    }

    private static ObjectKey object(ResultSet row) throws SQLException {
        return new ObjectKey(row.getString("object_type"), row.getString("object_key"));
    }

    // ---- replacing

    @Override
    public int replace(List<Replacement> replacements) {
        Map<ValueTable, List<Replacement>> byTable = new EnumMap<>(ValueTable.class);
        for (Replacement each : replacements) {
            byTable.computeIfAbsent(ValueTable.of(each.address()), unseen -> new ArrayList<>())
                    .add(each);
        }
        return byTable.entrySet().stream()
                .mapToInt(each -> replace(each.getKey(), each.getValue()))
                .sum();
    }

    private int replace(ValueTable table, List<Replacement> replacements) {
        return new Query(database)
                .byIndex(
                        sql.of(table).replace(),
                        parameters -> bind(parameters, table, replacements),
                        row -> row.getInt("replaced"))
                .getFirst();
    }

    private static void bind(Parameters parameters, ValueTable table, List<Replacement> replacements)
            throws SQLException {
        int columns = table.labels().size() + (table.hasAttributes() ? 1 : 0);
        for (int column = 1; column <= columns; column++) {
            int part = column;
            parameters.texts(
                    replacements.stream().map(each -> each.address().get(part)).toList());
        }
        parameters
                .bytes(replacements.stream().map(each -> each.before().bytes()).toArray(byte[][]::new))
                .bytes(replacements.stream().map(each -> each.after().bytes()).toArray(byte[][]::new));
    }
}
