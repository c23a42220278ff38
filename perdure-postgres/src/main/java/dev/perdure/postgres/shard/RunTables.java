package dev.perdure.postgres.shard;

import dev.perdure.postgres.jdbc.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The tables that have rows of runs and virtual objects, by the catalog of the server: those with a column named partition,
 * and the keys of starts. So a move does not forget a table that a later migration adds.
 */
public final class RunTables {
    /** What must not be found while a partition is closed. */
    private static final Set<String> SET_ASIDE = Set.of("ready", "timer", "start_limit", "held", "start_key");
    /** Says something about workers of this database. A sweep would change runs because of it. */
    private static final Set<String> LEFT_BEHIND = Set.of("takeover");
    /** Nothing depends on these rows, and a worker writes those of many runs together: one of them must not stop the others. */
    private static final Set<String> OPEN = Set.of("report", "log_line", "audit", "start_key");
    /** Entries about no run have partition 0, and a shard may have them already. */
    private static final Set<String> SHARED = Set.of("audit");

    /** What a run that has ended keeps as it is: unless the run changes, only its removal changes these rows. */
    private static final Set<String> LASTING = Set.of("run", "journal", "event", "publication");

    private static final String TABLES = """
            SELECT c.relname AS name,
                   string_agg(quote_ident(a.attname), ', ' ORDER BY a.attname)
                       FILTER (WHERE a.attgenerated = '' AND a.attidentity = '') AS columns,
                   string_agg(quote_ident(a.attname), ', ') FILTER (WHERE a.attidentity <> '') AS identity
            FROM pg_catalog.pg_class c
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            WHERE n.nspname = ? AND c.relkind = 'r'
            GROUP BY c.relname
            HAVING bool_or(a.attname = 'partition') OR c.relname = 'start_key'
            ORDER BY c.relname <> 'run', c.relname -- others are found by the keys of the runs
            """;

    /**
     * A table.
     *
     * @param name its name
     * @param columns the columns that a copy has to give, in an order that is the same on all servers
     * @param identity the column by which the server numbers rows, if there is one
     */
    public record Table(
            String name, String columns, @Nullable String identity) {
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

        /** Whether rows of runs that have ended go before the partition is closed. */
        boolean isLasting() {
            return LASTING.contains(name);
        }

        private boolean isRun() {
            return name.equals("run");
        }

        /** Whether a move needs an index to find its rows by their partition. */
        boolean needsIndex() {
            return isCopied() && (isRun() || !isLasting());
        }

        /** What that index is on. Moves walk through the runs by their keys. */
        private String indexed() {
            return isRun() ? "partition, key" : "partition";
        }

        /** The condition that selects the rows of one partition. */
        private String ofPartition() {
            if (name.equals("start_key")) {
                return "(t.run & 255) = ${partition}";
            }
            return isLasting() && !isRun()
                    ? "t.key = ANY (ARRAY(SELECT key FROM ${schema}.run WHERE partition = ${partition}))"
                    : "t.partition = ${partition}";
        }

        /** The text of a statement about the rows of a partition. */
        String sql(Schema schema, String text, int partition) {
            return sql(schema, text, ofPartition(), partition);
        }

        /** The same about the rows of the runs that move together. */
        String sqlOfGoing(Schema schema, String text, int partition) {
            return sql(schema, text, "t.key = ANY (ARRAY(SELECT key FROM going))", partition);
        }

        private String sql(Schema schema, String text, String rows, int partition) {
            return schema.sql(text.replace("${rows}", rows)
                    .replace("${indexed}", indexed())
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
                    tables.add(
                            new Table(rows.getString("name"), rows.getString("columns"), rows.getString("identity")));
                }
                return tables;
            }
        }
    }
}
