package dev.perdure.postgres.shard;

import dev.perdure.postgres.jdbc.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The tables that have rows of runs and virtual objects, by the catalog of the server: those with a column named partition,
 * the keys of starts, and the units of rates that keys of queues have used. So a move does not forget a table that a later
 * migration adds.
 */
public final class RunTables {
    /** What must not be found while a partition is closed. */
    private static final Set<String> SET_ASIDE =
            Set.of("ready", "timer", "start_limit", "held", "start_key", "queue_rate");
    /** Says something about workers of this database. A sweep would change runs because of it. */
    private static final Set<String> LEFT_BEHIND = Set.of("takeover");
    /** Nothing depends on these rows, and a worker writes those of many runs together: one of them must not stop the others. */
    private static final Set<String> OPEN = Set.of("report", "log_line", "audit", "start_key", "queue_rate");
    /** Entries about no run have partition 0, and a shard may have them already. */
    private static final Set<String> SHARED = Set.of("audit");

    /** Rows that are written while the row of their run changes, or before it does: inserts and deletes need no note of their own. */
    private static final Set<String> WRITTEN_ONCE = Set.of("journal", "event", "publication");
    /** Rows of virtual objects, with how the names of the two columns begin that name the object. */
    private static final Map<String, String> OF_OBJECTS = Map.of("object", "", "object_state", "object_");

    private static final String OF_RUNS =
            "t.key = ANY (ARRAY(SELECT key FROM ${schema}.run WHERE partition = ${partition}))";
    private static final String GOING_RUNS =
            "t.partition = ${partition} AND t.key = ANY (ARRAY(SELECT key FROM going))";
    /** From the objects to the rows, whatever the planner knows about the tables. */
    private static final String GOING_OBJECTS = """
            t.ctid = ANY (ARRAY(
                SELECT o.ctid FROM going_object g
                CROSS JOIN LATERAL (
                    SELECT ctid FROM ${schema}.${table} i WHERE i.${object}type = g.type AND i.${object}key = g.key OFFSET 0
                ) o))""";

    private static final String TABLES = """
            SELECT c.relname AS name,
                   string_agg(quote_ident(a.attname), ', ' ORDER BY a.attname)
                       FILTER (WHERE a.attgenerated = '' AND a.attidentity = '') AS columns,
                   string_agg(quote_ident(a.attname), ', ') FILTER (WHERE a.attidentity <> '') AS identity,
                   bool_or(a.attname = 'key' AND a.atttypid = 'bigint'::regtype) AS of_runs
            FROM pg_catalog.pg_class c
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            WHERE n.nspname = ? AND c.relkind = 'r'
            GROUP BY c.relname
            HAVING bool_or(a.attname = 'partition') OR c.relname IN ('start_key', 'queue_rate')
            ORDER BY c.relname <> 'run', c.relname -- others are found by the keys of the runs
            """;

    /**
     * A table.
     *
     * @param name its name
     * @param columns the columns that a copy has to give, in an order that is the same on all servers
     * @param identity the column by which the server numbers rows, if there is one
     * @param hasKey whether each row is of a run, which its column key names
     */
    public record Table(
            String name, String columns, @Nullable String identity, boolean hasKey) {
        /** Whether a move keeps its rows apart from the moment in which the partition is closed. */
        boolean isSetAside() {
            return SET_ASIDE.contains(name);
        }

        /** Whether its rows go with their partition as they are. */
        boolean isCopied() {
            return !isSetAside() && !LEFT_BEHIND.contains(name);
        }

        /** Whether a constraint refuses rows of closed partitions. */
        boolean isGuarded() {
            return !OPEN.contains(name);
        }

        /** Whether the other shard may have some of its rows already. */
        boolean isShared() {
            return SHARED.contains(name);
        }

        /** Whether its rows go with their runs: those of runs that have ended before the partition is closed. */
        boolean isOfRuns() {
            return hasKey && isCopied();
        }

        /** Whether its rows go with their virtual objects, before the partition is closed if they do not change. */
        boolean isOfObjects() {
            return OF_OBJECTS.containsKey(name);
        }

        /** Whether some of its rows go before the partition is closed. */
        boolean goesBefore() {
            return isOfRuns() || isOfObjects();
        }

        /** The triggers that note what changes in a partition while it is copied. */
        List<String> watches() {
            return WRITTEN_ONCE.contains(name)
                    ? List.of(MovingSql.WATCH_UPDATES)
                    : List.of(MovingSql.WATCH, MovingSql.WATCH_DELETES);
        }

        /** The function that they call. */
        private String note() {
            return isOfRuns() ? "note_run_change" : "note_%s_change".formatted(name);
        }

        private boolean isRun() {
            return name.equals("run");
        }

        /** Whether a move needs an index to find its rows by their partition. */
        boolean needsIndex() {
            return (isCopied() && !WRITTEN_ONCE.contains(name)) || isSetAside();
        }

        /** What that index is on. Moves walk through the runs by their keys. */
        private String indexed() {
            return switch (name) {
                case "run" -> "partition, key";
                case "start_key" -> "(run & 255)";
                case "slot" -> "partition, ${schema}.key_partition(queue_key)";
                case "queue_rate" -> "(${schema}.key_partition(queue_key))";
                default -> "partition";
            };
        }

        /** What happens to a row that the server has already: units that began there before the key came count too. */
        private String known() {
            return name.equals("queue_rate")
                    ? "ON CONFLICT (queue, queue_key, since) DO UPDATE SET units = queue_rate.units + excluded.units, "
                            + "heavy = queue_rate.heavy OR excluded.heavy, ended_at = GREATEST(queue_rate.ended_at, excluded.ended_at), "
                            + "expires_at = GREATEST(queue_rate.expires_at, excluded.expires_at)"
                    : "";
        }

        /** The condition that selects the rows of one partition. */
        private String ofPartition() {
            if (name.equals("start_key")) {
                return "(t.run & 255) = ${partition}";
            }
            if (name.equals("queue_rate")) {
                return "t.queue_key <> '' AND ${schema}.key_partition(t.queue_key) = ${partition}";
            }
            return WRITTEN_ONCE.contains(name) ? OF_RUNS : "t.partition = ${partition}";
        }

        /** The text of a statement about the rows of a partition. */
        String sql(Schema schema, String text, int partition) {
            return sql(schema, text, ofPartition(), partition);
        }

        /** The same, if the rows of runs came with their runs: needs no index of moves. */
        String sqlOfRuns(Schema schema, String text, int partition) {
            return sql(schema, text, isOfRuns() && !isRun() ? OF_RUNS : ofPartition(), partition);
        }

        /** The same about the rows of the runs and objects that go together. */
        String sqlOfGoing(Schema schema, String text, int partition) {
            return sql(schema, text, isOfRuns() ? GOING_RUNS : GOING_OBJECTS, partition);
        }

        private String sql(Schema schema, String text, String rows, int partition) {
            return schema.sql(text.replace("${rows}", rows)
                    .replace("${object}", OF_OBJECTS.getOrDefault(name, ""))
                    .replace("${note}", note())
                    .replace("${indexed}", indexed())
                    .replace("${known}", known())
                    .replace("${partition}", Integer.toString(partition))
                    .replace("${table}", name)
                    .replace("${columns}", columns)
                    .replace("${order}", identity == null ? "" : "ORDER BY " + identity));
        }
    }

    private RunTables() {}

    /** The tables of a schema. */
    public static List<Table> of(Connection connection, Schema schema) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(TABLES)) {
            statement.setString(1, schema.name());
            try (ResultSet rows = statement.executeQuery()) {
                List<Table> tables = new ArrayList<>();
                while (rows.next()) {
                    tables.add(new Table(
                            rows.getString("name"),
                            rows.getString("columns"),
                            rows.getString("identity"),
                            rows.getBoolean("of_runs")));
                }
                return tables;
            }
        }
    }
}
