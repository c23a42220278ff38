package dev.perdure.postgres.write.part;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Descriptions;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.jdbc.UnreadableRows;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Origin;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Premise;
import dev.perdure.spi.change.RunRef;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads what a worker needs to know about runs that it holds: claimed, handed over, or signalled. */
public final class Claims {
    private static final String DETAILS = """
            r.key, r.id, r.epoch, g.ahead, r.definition, COALESCE(i.payload, t.payload) AS input, r.seed, r.deadline, r.recoveries,
                   r.wakes, r.mails, r.cancel, r.kill, r.pause, r.queue, r.headers, r.created_at,
                   p.keys AS premise_keys, p.ids AS premise_ids, p.states AS premise_states,
                   p.reasons AS premise_reasons, p.outcomes AS premise_outcomes, ${call}
            FROM ${chosen}
            CROSS JOIN LATERAL (${run}) r
            LEFT JOIN LATERAL (SELECT payload FROM ${schema}.journal j WHERE j.key = g.key AND j.position = 0 OFFSET 0) i ON true
            -- A task without an input of its own has the input of its run.
            LEFT JOIN LATERAL (
                SELECT payload FROM ${schema}.journal j WHERE i.payload IS NULL AND j.key = r.parent AND j.position = 0 OFFSET 0
            ) t ON true
            LEFT JOIN LATERAL (
                SELECT array_agg(q.key ORDER BY a.place) AS keys, array_agg(q.id ORDER BY a.place) AS ids,
                       array_agg(q.state::int ORDER BY a.place) AS states,
                       array_agg(COALESCE(q.reason, '') ORDER BY a.place) AS reasons,
                       array_agg(COALESCE(o.payload, '') ORDER BY a.place) AS outcomes
                FROM unnest(r.after) WITH ORDINALITY AS a (key, place)
                CROSS JOIN LATERAL (SELECT key, id, state, reason FROM ${schema}.run WHERE run.key = a.key OFFSET 0) q
                LEFT JOIN LATERAL (
                    SELECT payload FROM ${schema}.journal j WHERE j.key = a.key AND j.position = ${OUTCOME} OFFSET 0
                ) o ON true
                WHERE r.after IS NOT NULL
            ) p ON true
            """;

    /** The row of a run that the worker holds, or may hold soon. */
    private static final String HELD = """
            SELECT key, id, epoch, definition, seed, deadline, recoveries, wakes, mails, cancel, kill, pause, queue, headers,
                   created_at, after, parent
                FROM ${schema}.run WHERE run.key = g.key AND (run.owner = ? OR run.owner IS NULL AND g.ahead) OFFSET 0""";

    /** The row of a run as the claiming statement leaves it. */
    private static final String CLAIMED = """
            SELECT g.key, g.id, g.epoch + 1 AS epoch, g.definition, g.seed, g.deadline, g.recoveries, 0 AS wakes, g.mails,
                       g.cancel, g.kill, g.pause, g.queue, g.headers, g.created_at, g.after, g.parent""";

    private static final String CALL = "c.hold, c.object_type, c.object_key";

    private static final String CALLS = """
            LEFT JOIN LATERAL (
                SELECT hold, object_type, object_key FROM ${schema}.object_call WHERE object_call.key = g.key OFFSET 0
            ) c ON true
            """;

    /** For runs that are not calls of virtual objects and need no lookup there. */
    private static final String NO_CALL = "NULL::smallint AS hold, NULL::text AS object_type, NULL::text AS object_key";

    private static final String BY_KEY = "(SELECT key, false AS ahead FROM unnest(?::bigint[]) AS chosen (key)) AS g";

    /**
     * The runs that come after ended tasks; and, for ended calls, the calls that hold their objects now and those that
     * wait next.
     */
    private static final String AFTER = """
            (
                SELECT DISTINCT d.key, false AS ahead
                FROM unnest(?::bigint[]) AS ended (key)
                CROSS JOIN LATERAL (SELECT before FROM ${schema}.run WHERE run.key = ended.key OFFSET 0) e
                CROSS JOIN LATERAL unnest(e.before) AS d (key)
                UNION ALL
                SELECT line.key, line.ahead
                FROM (
                    SELECT c.object_type, c.object_key, max(ended.takes) AS takes
                    FROM unnest(?::bigint[], ?::int[]) AS ended (key, takes)
                    CROSS JOIN LATERAL (
                        SELECT object_type, object_key FROM ${schema}.object_call WHERE object_call.key = ended.key OFFSET 0
                    ) c
                    GROUP BY c.object_type, c.object_key
                ) freed
                -- No call waits for an object that no call holds.
                CROSS JOIN LATERAL (
                    SELECT holder FROM ${schema}.object o
                    WHERE o.type = freed.object_type AND o.key = freed.object_key AND o.holder IS NOT NULL OFFSET 0
                ) o
                CROSS JOIN LATERAL (
                    SELECT o.holder AS key, false AS ahead
                    UNION ALL
                    SELECT w.key, true
                    FROM (
                        SELECT key FROM ${schema}.object_call w
                        WHERE w.object_type = freed.object_type AND w.object_key = freed.object_key AND w.number IS NOT NULL
                        ORDER BY w.number
                        LIMIT freed.takes - 1
                    ) w
                ) line
            ) AS g""";

    /** The same if no ended run held a virtual object. */
    private static final String TASKS_AFTER = """
            (
                SELECT DISTINCT d.key, false AS ahead
                FROM unnest(?::bigint[]) AS ended (key)
                CROSS JOIN LATERAL (SELECT before FROM ${schema}.run WHERE run.key = ended.key OFFSET 0) e
                CROSS JOIN LATERAL unnest(e.before) AS d (key)
            ) AS g""";

    /** The columns and joins for the statement that claims runs, in which they are called {@code taken}. */
    public static final String TAKEN =
            details("(SELECT taken.*, false AS ahead FROM taken) AS g", CLAIMED, CALL) + CALLS.stripTrailing();

    final String settingsAndDetails;
    private final Database database;

    public Claims(Schema schema, LedgerSql ledger, Database database) {
        String details = schema.sql("SELECT " + details(BY_KEY, HELD, CALL) + CALLS);
        this.settingsAndDetails = String.join(";\n", ledger.settings, details);
        this.database = database;
    }

    private static String details(String chosen, String run, String call) {
        return DETAILS.replace("${chosen}", chosen).replace("${run}", run).replace("${call}", call);
    }

    /**
     * The runs that the worker takes over after the runs that a batch ends: the last statement of that batch.
     *
     * <p>Its columns have unbounded size, and it may be sent together with the others all the same. It comes last, so
     * nothing is left to send while it is read. The driver does not learn its columns beforehand, because the driver
     * knows the types of all its parameters. If the driver splits it off nevertheless, it reads the same after the
     * commit, only later.
     */
    static String handed(Schema schema) {
        return schema.sql("SELECT " + details(AFTER, HELD, CALL) + CALLS);
    }

    /** The same for a batch that ends no call of a virtual object. */
    static String handedTasks(Schema schema) {
        return schema.sql("SELECT " + details(TASKS_AFTER, HELD, NO_CALL));
    }

    /** Those of these runs that the worker holds, by key. */
    public Map<Long, Claimed> read(long[] keys, int worker) {
        if (keys.length == 0) {
            return Map.of();
        }
        return database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, settingsAndDetails)) {
                new Parameters(statement)
                        .text(LedgerSql.NO_LOCK_TIMEOUT)
                        .longs(keys)
                        .integer(worker);
                statement.execute();
                Results results = new Results(statement);
                results.skip();
                ResultSet rows = results.next();
                List<Claimed> claimed = new ArrayList<>();
                while (rows.next()) {
                    add(rows, database.unreadable(), claimed);
                }
                return claimed.stream()
                        .collect(Collectors.toMap(run -> run.run().key(), run -> run));
            }
        });
    }

    static Map<Long, Claimed> read(ResultSet rows) throws SQLException {
        Map<Long, Claimed> claims = new HashMap<>();
        while (rows.next()) {
            claims.put(rows.getLong("key"), claimed(rows));
        }
        return claims;
    }

    /** The run as a worker takes it. */
    private static Control unwoken(Control asked) {
        return new Control(0, asked.mails(), asked.cancel(), asked.kill(), asked.pause());
    }

    /** Adds the run of one row to those that were claimed. The worker holds it even if it cannot be read. */
    public static void add(ResultSet row, UnreadableRows unreadable, List<Claimed> claimed) throws SQLException {
        Claimed run = unreadable.read(row, Claims::claimed);
        if (run != null) {
            claimed.add(run);
        }
    }

    /** The run of one row. */
    private static Claimed claimed(ResultSet row) throws SQLException {
        return new Claimed(
                new RunRef(RunId.of(row.getString("id")), row.getLong("key")),
                row.getBoolean("ahead") ? row.getLong("epoch") + 1 : row.getLong("epoch"),
                row.getString("definition"),
                inputOf(row),
                row.getLong("seed"),
                row.getBoolean("ahead") ? unwoken(Results.control(row)) : Results.control(row),
                Results.timeOrNull(row, "deadline"),
                row.getInt("recoveries"),
                premises(row),
                Results.object(row),
                new Origin(row.getString("queue"), Descriptions.headers(row), Results.timeOrNull(row, "created_at")));
    }

    /** Only a person can have removed the row of the input. The run that needs it is then paused. */
    private static Payload inputOf(ResultSet row) throws SQLException {
        byte[] input = row.getBytes("input");
        return input == null ? Payload.EMPTY : new Payload(input);
    }

    private static List<Premise> premises(ResultSet row) throws SQLException {
        Array keys = row.getArray("premise_keys");
        if (keys == null) {
            return List.of();
        }
        Long[] numbers = (Long[]) keys.getArray();
        String[] ids = (String[]) elements(row, "premise_ids");
        Integer[] states = (Integer[]) elements(row, "premise_states");
        String[] reasons = (String[]) elements(row, "premise_reasons");
        byte[][] outcomes = (byte[][]) elements(row, "premise_outcomes");
        List<Premise> premises = new ArrayList<>(numbers.length);
        for (int i = 0; i < numbers.length; i++) {
            boolean isKnown = Codes.isState(states[i]);
            premises.add(new Premise(
                    new RunRef(RunId.of(ids[i]), numbers[i]),
                    isKnown ? Codes.state(states[i]) : RunState.PENDING,
                    new Payload(outcomes[i]),
                    reasons[i],
                    isKnown));
        }
        return premises;
    }

    private static Object elements(ResultSet row, String column) throws SQLException {
        @Nullable Array array = row.getArray(column);
        return Objects.requireNonNull(array, column).getArray();
    }
}
