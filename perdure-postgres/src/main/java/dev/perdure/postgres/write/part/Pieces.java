package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.AuditText;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.change.Entries;
import dev.perdure.postgres.write.change.RunColumns;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The pieces from which statements are composed: one SQL text for each table and verb.
 *
 * <p>A statement names a piece by a placeholder. An insert takes its columns from the relation after {@code FROM}, by
 * the same names; if the relation has another name for a column, the placeholder gives it:
 *
 * <pre>{@code
 * ${enqueue FROM decided WHERE goes_on}
 * ${hold(worker = ?) FROM taken}
 * }</pre>
 *
 * <p>A delete takes a relation with an alias, and looks each row up by its index before it deletes it (see {@link
 * LedgerSql}):
 *
 * <pre>{@code
 * ${let_go FROM decided d WHERE d.holds}
 * }</pre>
 *
 * <p>The text is composed once, when the store is opened. It is the same as if it were written by hand, so the
 * composition does not affect plans.
 */
public final class Pieces {
    private static final Pattern DELETED = Pattern.compile("(\\w+) (\\w+)(?:\\s+WHERE (.*))?", Pattern.DOTALL);

    private static final Map<String, Piece> PIECES = new LinkedHashMap<>();

    static {
        // What guards a statement: the lane of its worker, locked or only read.
        text("lane", "SELECT ${columns} FROM ${schema}.lane WHERE worker = ? AND number = ? FOR KEY SHARE");
        text("fence", "fence AS MATERIALIZED (${lane})");
        text("fence_with_time", "fence AS MATERIALIZED (${lane(${now} AS at, worker)})");
        text("lane_exists", "EXISTS (SELECT FROM ${schema}.lane WHERE worker = ? AND number = ?)");
        text("client_or_lane_exists", "?::int IS NULL OR ${lane_exists}");
        text("now", "COALESCE(?::timestamptz, now())");
        text("clock", "clock AS MATERIALIZED (SELECT ${now} AS at)");
        // After a lock for which it may have waited: what it lets begin counts for a rate from then on.
        text("clock_after_lock", "clock AS MATERIALIZED (SELECT COALESCE(?::timestamptz, clock_timestamp()) AS at)");

        // Relations of a batch that are passed to many statements.
        text("run_columns", RunColumns.KEPT.names());
        text("entries", Entries.COLUMNS.many("e"));

        // ready: a run that was asked to cancel goes before all others
        text("first", "(-2147483648)");
        text("rank", "CASE WHEN cancel IS NULL THEN ~priority ELSE ${first} END");
        insert(
                "enqueue",
                "ready",
                "key, since = moved_at, rank = ${rank}, partition, alone = recoveries >= ${ALONE_AFTER}, queue, definition, "
                        + "version = COALESCE(version, '') || COALESCE(E'\\n' || placement, ''), queue_key");
        insert(
                "enqueue_new",
                "ready",
                "key, since = created_at, rank = ~priority, partition, alone = false, queue, definition, "
                        + "version = COALESCE(version, '') || COALESCE(E'\\n' || placement, ''), queue_key");
        delete("dequeue", "ready", "key", "");

        // event
        insert("log", "event", "key, number = changes, partition, state, at = changed_at, reason");

        // held
        insert("hold", "held", "key, worker = owner, partition");
        insert(
                "mark_woken",
                "held",
                "key, worker = owner, partition, woken = true",
                "ON CONFLICT (worker, key, partition) DO UPDATE SET woken = true");
        delete("let_go", "held", "worker = owner, key, partition", "");
        text(
                "let_go_given",
                "DELETE FROM ${schema}.held WHERE worker = ? AND key = ANY (?::bigint[]) AND EXISTS (SELECT FROM fence)");

        // timer
        insert("set_timer", "timer", "due_at = wake_at, key, partition");
        delete("clear_timer", "timer", "due_at = wake_at, key", "");

        // journal
        insert(
                "append",
                "journal",
                "key = e.key, position = e.position, note = e.note, partition = e.key & 255, at = fence.at, kind = e.kind, "
                        + "status = e.status, name = e.name, payload = e.payload");
        insert(
                "input",
                "journal",
                "key, position = 0, note = 0, partition, at, kind = 0, status = 0, name = '', payload = input");
        insert(
                "outcome",
                "journal",
                "key, position = ${OUTCOME}, note = 0, partition, at, kind = 0, status = 0, name = '', payload");
        // The timeout in microseconds. A run without tasks has only its deadline until it is retried or begins anew for
        // the first
        // time, because until then the two times tell it. In microseconds, as days depend on the time zone of the
        // session.
        text(
                "timeout_of_run",
                "COALESCE(r.timeout, (EXTRACT(EPOCH FROM r.deadline - r.created_at) * 1000000)::bigint)");

        delete("empty_journal", "journal", "key", " AND journal.position > 0");

        // mail
        insert(
                "deliver",
                "mail",
                "key, token, at, number, position, restarts, partition, channel, status, name, text, payload, headers");
        text(
                "take_mail",
                "UPDATE ${schema}.mail SET taken = true, payload = CASE WHEN channel = ${MESSAGE} THEN '' ELSE payload END, headers = NULL");

        // audit: what an operator's command carries as JSON
        Map<String, String> audited = assignments("at = moved_at");
        PIECES.put("audit", call -> {
            String at = given("audit", audited, call).getOrDefault("at", "moved_at");
            return AuditText.insert(at, call.from());
        });

        // object_call and object_state
        insert("call", "object_call", "key, partition, hold = ${EXCLUSIVE}, object_type = type, object_key = object");
        insert(
                "leave_line",
                "object_call",
                "key, number = NULL::bigint, partition, hold = ${EXCLUSIVE}, object_type, object_key",
                "ON CONFLICT (key, partition) DO UPDATE SET number = NULL");
        insert(
                "set_state",
                "object_state",
                "object_type = type, object_key = object, name, partition, payload",
                "ON CONFLICT (object_type, object_key, name, partition) DO UPDATE SET payload = excluded.payload");

        // run: the columns that an end sets. The time when it began to run is in the row itself, instead of a row in
        // event.
        values(
                "end_columns",
                "changed_at = ${at}, owner = NULL, changes = run.changes + 1, state = ${state}, reason = ${reason}, "
                        + "ran_at = CASE WHEN run.changes > 0 THEN run.changed_at END");
    }

    /** A placeholder: {@code ${name(arguments) FROM from}}. */
    private record Call(String name, String arguments, String from) {
        static Call of(String placeholder) {
            Matcher name = Pattern.compile("[a-z_.]+").matcher(placeholder);
            if (!name.lookingAt()) {
                throw new IllegalStateException("Not a piece: ${%s}".formatted(placeholder));
            }
            String rest = placeholder.substring(name.end());
            String arguments = "";
            if (rest.startsWith("(")) {
                int end = closing(rest, 0, '(', ')');
                arguments = rest.substring(1, end);
                rest = rest.substring(end + 1);
            }
            rest = rest.strip();
            return new Call(
                    name.group(), arguments, rest.startsWith("FROM ") ? rest.substring("FROM ".length()) : rest);
        }
    }

    /** The replacement of a placeholder. */
    private interface Piece {
        String sql(Call call);
    }

    private Pieces() {}

    /** The statement with its pieces, the schema's name and the numbers of states. */
    public static String sql(Schema schema, String statement) {
        return schema.sql(resolved(statement));
    }

    private static String resolved(String text) {
        StringBuilder sql = new StringBuilder();
        int from = 0;
        for (int start = text.indexOf("${"); start >= 0; start = text.indexOf("${", from)) {
            int end = closing(text, start + 1, '{', '}');
            sql.append(text, from, start);
            String placeholder = text.substring(start + 2, end);
            Call call = isPiece(placeholder) ? Call.of(placeholder) : null;
            sql.append(
                    call == null
                            ? text.substring(start, end + 1)
                            : resolved(piece(call.name()).sql(call)));
            from = end + 1;
        }
        return sql.append(text, from, text.length()).toString();
    }

    /** Names of states are in upper case. {@link Schema#sql} replaces them and the schema's name. */
    private static boolean isPiece(String placeholder) {
        return Character.isLowerCase(placeholder.charAt(0)) && !placeholder.equals("schema");
    }

    private static Piece piece(String name) {
        Piece piece = PIECES.get(name);
        if (piece == null) {
            throw new IllegalStateException("There is no piece '%s'. There are: %s".formatted(name, PIECES.keySet()));
        }
        return piece;
    }

    /** A fixed text, or a text with a list of columns. */
    private static void text(String name, String text) {
        PIECES.put(name, call -> text.replace("${columns}", call.arguments()));
    }

    /** A text with named values. */
    private static void values(String name, String text) {
        PIECES.put(name, call -> {
            String sql = text;
            for (Map.Entry<String, String> value : assignments(call.arguments()).entrySet()) {
                sql = sql.replace("${" + value.getKey() + "}", value.getValue());
            }
            return sql;
        });
    }

    private static void insert(String name, String table, String columns) {
        insert(name, table, columns, "");
    }

    /**
     * {@code INSERT INTO table (columns) SELECT values FROM relation}; only the second half of it as {@code
     * ${name.select FROM relation}}.
     */
    private static void insert(String name, String table, String columns, String conflict) {
        Map<String, String> declared = assignments(columns);
        Piece select = call -> {
            Map<String, String> values = new LinkedHashMap<>(declared);
            values.putAll(given(name, declared, call));
            return "SELECT %s FROM %s".formatted(String.join(", ", values.values()), call.from());
        };
        PIECES.put(name + ".select", select);
        PIECES.put(
                name,
                call -> "INSERT INTO ${schema}.%s (%s) %s %s"
                        .formatted(table, String.join(", ", declared.keySet()), select.sql(call), conflict));
    }

    /** Deletes the rows of a table that have these columns of the relation, by their locations. */
    private static void delete(String name, String table, String columns, String condition) {
        Map<String, String> declared = assignments(columns);
        PIECES.put(name, call -> {
            Matcher relation = DELETED.matcher(call.from());
            if (!relation.matches()) {
                throw new IllegalStateException(
                        "The piece '%s' needs a relation with an alias: %s".formatted(name, call.from()));
            }
            String alias = relation.group(2);
            Map<String, String> values = new LinkedHashMap<>();
            declared.forEach((column, value) -> values.put(column, alias + "." + value));
            values.putAll(given(name, declared, call));
            String same = values.entrySet().stream()
                    .map(column -> "%s.%s = %s".formatted(table, column.getKey(), column.getValue()))
                    .collect(Collectors.joining(" AND "));
            String where = relation.group(3) == null ? "" : " WHERE " + relation.group(3);
            return """
                    DELETE FROM ${schema}.%1$s WHERE ctid = ANY (ARRAY(
                        SELECT found.ctid FROM %2$s %3$s
                        CROSS JOIN LATERAL (SELECT ctid FROM ${schema}.%1$s WHERE %4$s%5$s OFFSET 0) found%6$s))""".formatted(table, relation.group(1), alias, same, condition, where);
        });
    }

    /** The columns for which a placeholder gives another value. */
    private static Map<String, String> given(String name, Map<String, String> declared, Call call) {
        Map<String, String> given = assignments(call.arguments());
        if (!declared.keySet().containsAll(given.keySet())) {
            throw new IllegalStateException("The piece '%s' has the columns %s, not all of %s."
                    .formatted(name, declared.keySet(), given.keySet()));
        }
        return given;
    }

    /**
     * Columns with their values: {@code key, since = moved_at}. A column without a value takes the one with its own
     * name.
     */
    private static Map<String, String> assignments(String list) {
        Map<String, String> assignments = new LinkedHashMap<>();
        for (String each : split(list)) {
            String[] both = each.split(" = ", 2);
            assignments.put(both[0], both[both.length - 1]);
        }
        return assignments;
    }

    /** The elements of a list, separated by commas outside parentheses. */
    private static List<String> split(String list) {
        List<String> elements = new ArrayList<>();
        int depth = 0;
        int from = 0;
        for (int at = 0; at <= list.length(); at++) {
            char character = at == list.length() ? ',' : list.charAt(at);
            depth += character == '(' ? 1 : character == ')' ? -1 : 0;
            if (character == ',' && depth == 0) {
                elements.add(list.substring(from, at).strip());
                from = at + 1;
            }
        }
        elements.removeIf(String::isEmpty);
        return elements;
    }

    /** The index of the parenthesis that closes the one that opens here. */
    private static int closing(String text, int open, char opening, char closing) {
        int depth = 0;
        for (int at = open; at < text.length(); at++) {
            depth += text.charAt(at) == opening ? 1 : text.charAt(at) == closing ? -1 : 0;
            if (depth == 0) {
                return at;
            }
        }
        throw new IllegalStateException("Not closed: " + text.substring(open));
    }
}
