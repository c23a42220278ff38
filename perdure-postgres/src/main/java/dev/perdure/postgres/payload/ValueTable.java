package dev.perdure.postgres.payload;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A column of a table with values, in the order of a walk: values are copied from the inbox and from objects into
 * journals, mailboxes and runs, so these come last.
 */
enum ValueTable {
    INBOX("inbox", "input", "number bigint"),
    INBOX_ATTRIBUTES("inbox", "attributes", "number bigint"),
    STATE("object_state", "payload", "object_type text", "object_key text", "name text", "partition smallint"),
    REPORT("report", "heartbeat", "key bigint", "position integer", "partition smallint"),
    PUBLICATION("publication", "payload", "key bigint", "name text", "\"offset\" bigint", "partition smallint"),
    MAIL("mail", "payload", "key bigint", "token uuid", "partition smallint"),
    JOURNAL("journal", "payload", "key bigint", "position integer", "note smallint", "partition smallint"),
    RUN_ATTRIBUTES("run", "attributes", "key bigint", "partition smallint");

    private static final List<ValueTable> ORDER = List.of(values());

    private final String table;
    private final String payload;
    private final List<Column> key;

    private record Column(String name, String type) {
        static Column of(String declared) {
            int blank = declared.lastIndexOf(' ');
            return new Column(declared.substring(0, blank), declared.substring(blank + 1));
        }

        /** Nothing of this type comes before it. */
        String first() {
            return switch (type) {
                case "bigint" -> Long.toString(Long.MIN_VALUE);
                case "integer" -> Integer.toString(Integer.MIN_VALUE);
                case "smallint" -> Short.toString(Short.MIN_VALUE);
                case "uuid" -> "00000000-0000-0000-0000-000000000000";
                case "text" -> "";
                default -> throw new IllegalStateException("No key has the type " + type);
            };
        }

        /** The name of the column in an answer. */
        String label() {
            return name.replace("\"", "");
        }
    }

    ValueTable(String table, String payload, String... key) {
        this.table = table;
        this.payload = payload;
        this.key = Arrays.stream(key).map(Column::of).toList();
    }

    static ValueTable of(List<String> address) {
        return ORDER.stream()
                .filter(table -> table.label().equals(address.getFirst()))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("No values are in " + address.getFirst()));
    }

    /** Where a walk over this table begins. */
    List<String> beginning() {
        return address(key.stream().map(Column::first).toList());
    }

    /** Where a walk goes on after this table; empty if it is the last one. */
    List<String> end() {
        return ordinal() + 1 == ORDER.size()
                ? List.of()
                : ORDER.get(ordinal() + 1).beginning();
    }

    /** The table and the primary key of a row. */
    List<String> address(List<String> values) {
        List<String> address = new ArrayList<>();
        address.add(label());
        address.addAll(values);
        return address;
    }

    private String label() {
        return hasAttributes() ? table + "." + payload : table;
    }

    /** Whether a row has encrypted values by the names of attributes, and not one value. */
    boolean hasAttributes() {
        return payload.equals("attributes");
    }

    /** The columns of the primary key. */
    List<String> labels() {
        return key.stream().map(Column::label).toList();
    }

    String table() {
        return table;
    }

    String payload() {
        return payload;
    }

    String names() {
        return key.stream().map(Column::name).collect(Collectors.joining(", "));
    }

    /** The columns of the primary key of these rows. */
    String names(String rows) {
        return key.stream().map(column -> rows + "." + column.name()).collect(Collectors.joining(", "));
    }

    /** The rows after a row, in the order of the primary key. */
    String after() {
        String row = key.stream().map(column -> "?::" + column.type()).collect(Collectors.joining(", "));
        return "(%s) > (%s)".formatted(names(), row);
    }

    /** Parameters for the columns of the primary key, as texts. */
    String arrays() {
        return key.stream().map(column -> "?::text[]").collect(Collectors.joining(", "));
    }

    /** Whether the row {@code t} has the primary key that is wanted. */
    String same() {
        return key.stream()
                .map(column -> "t.%1$s = w.%1$s::%2$s".formatted(column.name(), column.type()))
                .collect(Collectors.joining(" AND "));
    }
}
