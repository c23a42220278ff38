package dev.perdure.postgres.read;

import dev.perdure.RunCount;
import dev.perdure.RunFilter;
import dev.perdure.RunFilter.Period;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.attribute.Condition;
import dev.perdure.attribute.Condition.Comparison;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Micros;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.Runs;
import dev.perdure.spi.shard.RunSelection;
import dev.perdure.spi.shard.RunSelection.Origins;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The statements that find runs by a {@link RunFilter}.
 *
 * <p>How it works: a statement has exactly the conditions that the filter names, so that the planner sees which index
 * fits. A condition that may be switched off by a null ({@code ? IS NULL OR …}) would hide it. The settings before the
 * statement let the server plan for the given values, and not read the whole table.
 */
public final class FilterSql {
    /** The states that {@code run.rare_state} has. */
    private static final Set<RunState> RARE =
            EnumSet.of(RunState.PAUSED, RunState.FAILED, RunState.CANCELLED, RunState.SKIPPED);

    private static final Instant EARLIEST = Instant.parse("-4000-01-01T00:00:00Z");
    private static final Instant LATEST = Instant.parse("+20000-01-01T00:00:00Z");

    public static final String SETTINGS = """
            SELECT length(set_config('lock_timeout', ?, true)) + length(set_config('enable_seqscan', 'off', true))
                 + length(set_config('max_parallel_workers_per_gather', '0', true))
                 + length(set_config('plan_cache_mode', 'force_custom_plan', true)) AS done;
            """;

    private static final String LIST = """
            SELECT ${info}
            FROM (SELECT r.* FROM ${from} WHERE ${conditions} ORDER BY ${inner_order} LIMIT ?) r
            ORDER BY ${order}
            """;

    private static final String NEWEST = """
            SELECT r.key, r.id, r.definition, r.state, r.created_at, r.changed_at
            FROM ${from}
            WHERE ${conditions} AND ${created_at} >= COALESCE(?::timestamptz, now()) - ?::bigint * interval '1 microsecond'
            ORDER BY ${created_at} DESC, r.id DESC
            LIMIT ?
            """;

    private static final String NEWEST_FIRST = "${created_at} DESC, r.id DESC";
    private static final String OLDEST_FIRST = "${created_at}, r.id";

    private static final String RUNS = "${schema}.run r";

    /** Begins with the runs that have an attribute, in the order of lists. */
    private static final String ATTRIBUTED = "${schema}.attribute a JOIN ${schema}.run r ON r.key = a.key";

    private static final String COUNT = """
            SELECT ${state} AS state, count(*)::int AS runs FROM (SELECT FROM ${from} WHERE ${conditions} ${order} LIMIT ?) AS seen
            """;

    /**
     * Most runs have completed. Those of a definition are counted by a walk along the index of creation, which has its
     * hash: without an order, the server reads the rows of all definitions, because it finds enough of them soon.
     */
    private static final String BY_WALK = "ORDER BY r.created_at DESC";

    /** By the summaries of ranges of pages, or by a walk along the index of creation, which has the hash. */
    private static final String DEFINITION = "r.definition = ? AND hashtext(r.definition) = hashtext(?)";

    private static final String PARENT =
            "r.parent = (SELECT p.key FROM ${schema}.run p WHERE p.id = ?) AND r.parent_position IS DISTINCT FROM ${REPORTING}";

    private static final String SCHEDULE =
            "r.parent = (SELECT p.key FROM ${schema}.run p WHERE p.id = ?) AND r.parent_position = ${REPORTING}";

    /** The children of each run are looked up; a join might read the children of all runs. */
    private static final String ROOT = """
            r.ctid = ANY (ARRAY(
                WITH RECURSIVE tree AS (
                    SELECT t.key, t.ctid AS place FROM ${schema}.run t WHERE ${root}
                    UNION ALL
                    SELECT c.key, c.place
                    FROM tree
                    CROSS JOIN LATERAL (
                        SELECT key, ctid AS place FROM ${schema}.run
                        WHERE run.parent = tree.key AND run.parent_position IS DISTINCT FROM ${REPORTING}
                        OFFSET 0
                    ) c
                ) SELECT place FROM tree))""";

    /** The children or the reporting runs of a run that may be on another shard: those that have it here, and the others. */
    private static final String OF_SHARDS = """
            r.ctid = ANY (ARRAY(
                SELECT c.ctid FROM ${schema}.run c WHERE c.parent = ? AND c.parent_position ${is} ${REPORTING}
                UNION ALL
                SELECT c.place
                FROM ${schema}.parent_elsewhere p
                CROSS JOIN LATERAL (SELECT ctid AS place FROM ${schema}.run WHERE run.key = p.key OFFSET 0) c
                WHERE p.parent_key = ? AND p.position ${is} ${REPORTING}))""";

    /**
     * A statement with its parameters.
     *
     * @param text the settings and the statement
     * @param binding its parameters, after that of the settings
     */
    record Statement(String text, Query.Binding binding) {}

    private record Selection(String sql, Query.Binding binding) {}

    private final List<Selection> selections = new ArrayList<>();
    private boolean byAttribute;

    private FilterSql() {}

    /**
     * A page.
     *
     * @param limit how many runs at most, whatever the limit of the selection
     * @param time the time of tests, or null
     */
    static Statement list(Schema schema, RunSelection selection, int limit, @Nullable Instant time) {
        RunFilter filter = selection.filter();
        FilterSql selected = of(selection);
        filter.after().ifPresent(last -> selected.addPage(last, filter.isOldestFirst()));
        String order = filter.isOldestFirst() ? OLDEST_FIRST : NEWEST_FIRST;
        String text = LIST.replace("${info}", QuerySql.INFO)
                .replace("${conditions}", selected.joined())
                .replace("${inner_order}", order)
                .replace("${order}", order.replace("${created_at}", "r.created_at"));
        return new Statement(schema.sql(SETTINGS + selected.from(text)), parameters -> {
            parameters.time(time);
            selected.bind(parameters);
            parameters.integer(limit);
        });
    }

    /** The runs that a filter selects, whatever its page and order. */
    static FilterSql of(RunSelection selection) {
        FilterSql selected = new FilterSql();
        if (!selection.filter().states().isEmpty()) {
            selected.addStates(selection.filter().states());
        }
        selected.add(selection);
        return selected;
    }

    /**
     * The newest runs.
     *
     * @param time the time of tests, or null
     */
    static Statement newest(Schema schema, RunSelection selection, Duration within, int limit, @Nullable Instant time) {
        FilterSql selected = of(selection);
        return new Statement(schema.sql(SETTINGS + selected.in(NEWEST)), parameters -> {
            selected.bind(parameters);
            parameters.time(time).number(Micros.of(within)).integer(limit);
        });
    }

    /** A row for each state that the filter allows. */
    static Statement count(Schema schema, RunSelection selection) {
        RunFilter filter = selection.filter();
        Set<RunState> states = filter.states().isEmpty() ? EnumSet.allOf(RunState.class) : filter.states();
        List<FilterSql> each = new ArrayList<>();
        List<String> texts = new ArrayList<>();
        for (RunState state : states) {
            FilterSql selected = new FilterSql();
            selected.addStates(Set.of(state));
            selected.add(selection);
            each.add(selected);
            boolean walks = state == RunState.COMPLETED && filter.definition().isPresent() && !selected.byAttribute;
            texts.add(selected.in(COUNT.replace("${state}", String.valueOf(Codes.of(state)))
                    .replace("${order}", walks ? BY_WALK : "")));
        }
        return new Statement(schema.sql(SETTINGS + String.join("UNION ALL\n", texts)), parameters -> {
            for (FilterSql selected : each) {
                selected.bind(parameters);
                parameters.integer(RunCount.BOUND + 1);
            }
        });
    }

    /** The statement, from the table by which the runs are found. */
    private String from(String statement) {
        return statement
                .replace("${from}", byAttribute ? ATTRIBUTED : RUNS)
                .replace("${created_at}", byAttribute ? "a.created_at" : "r.created_at");
    }

    /** The statement with the conditions, from the table by which the runs are found. */
    String in(String statement) {
        return from(statement.replace("${conditions}", joined()));
    }

    private String joined() {
        return selections.isEmpty()
                ? "true"
                : selections.stream().map(Selection::sql).collect(Collectors.joining("\n  AND "));
    }

    void bind(Parameters parameters) throws SQLException {
        for (Selection selection : selections) {
            selection.binding().bind(parameters);
        }
    }

    private void add(String sql, Query.Binding binding) {
        selections.add(new Selection(sql, binding));
    }

    private void add(RunSelection selection) {
        RunFilter filter = selection.filter();
        addAttributes(filter.conditions());
        filter.definition()
                .ifPresent(name ->
                        add(DEFINITION, parameters -> parameters.text(name).text(name)));
        if (filter.isWithoutEngineRuns()) {
            add("NOT starts_with(r.definition, ?)", parameters -> parameters.text(Runs.OF_THE_ENGINE));
        }
        filter.queue().ifPresent(name -> add("r.queue = ?", parameters -> parameters.text(name)));
        filter.key().ifPresent(value -> add("r.queue_key = ?", parameters -> parameters.text(value)));
        filter.version().ifPresent(tag -> add("r.version = ?", parameters -> parameters.text(tag)));
        if (selection.origins() == null) {
            addOrigins(filter);
        } else {
            addOrigins(filter, selection.origins());
        }
        filter.idPrefix().ifPresent(prefix -> addPrefix("r.id", prefix));
        filter.reason().ifPresent(prefix -> addPrefix("r.reason_start", prefix));
        filter.created().ifPresent(period -> addPeriod("${created_at}", period));
        filter.ended().ifPresent(this::addEnded);
    }

    private void addOrigins(RunFilter filter) {
        filter.parent().ifPresent(run -> add(PARENT, parameters -> parameters.text(run.value())));
        filter.schedule().ifPresent(run -> add(SCHEDULE, parameters -> parameters.text(run.value())));
        filter.root()
                .ifPresent(run -> add(ROOT.replace("${root}", "t.id = ?"), parameters -> parameters.text(run.value())));
    }

    private void addOrigins(RunFilter filter, Origins origins) {
        if (filter.parent().isPresent()) {
            addStartedBy("IS DISTINCT FROM", origins.parent());
        }
        if (filter.schedule().isPresent()) {
            addStartedBy("=", origins.schedule());
        }
        if (filter.root().isPresent()) {
            long[] roots = origins.roots().stream().mapToLong(Long::longValue).toArray();
            add(ROOT.replace("${root}", "t.key = ANY (?::bigint[])"), parameters -> parameters.longs(roots));
        }
    }

    private void addStartedBy(String is, long run) {
        add(OF_SHARDS.replace("${is}", is), parameters -> parameters.number(run).number(run));
    }

    /**
     * Finds the runs by the first condition on a single value, whose index has the order of lists. A range has no such
     * order, so the planner chooses between its index and a walk by creation.
     */
    private void addAttributes(List<Condition> conditions) {
        List<Condition> single =
                conditions.stream().filter(condition -> !isRange(condition)).toList();
        if (!single.isEmpty()) {
            byAttribute = true;
            Condition first = single.getFirst();
            add("a.name = ? AND " + compared("a", first), parameters -> {
                parameters.text(first.name());
                bind(parameters, first);
            });
            single.stream().skip(1).forEach(condition -> addExists(List.of(condition)));
        }
        conditions.stream()
                .filter(FilterSql::isRange)
                .collect(Collectors.groupingBy(
                        condition -> condition.value().kind() + condition.name(),
                        LinkedHashMap::new,
                        Collectors.toList()))
                .values()
                .forEach(this::addExists);
    }

    /** Conditions on one attribute. */
    private void addExists(List<Condition> conditions) {
        String all =
                conditions.stream().map(condition -> compared("o", condition)).collect(Collectors.joining(" AND "));
        add(
                "EXISTS (SELECT FROM ${schema}.attribute o WHERE o.key = r.key AND o.name = ? AND " + all + ")",
                parameters -> {
                    parameters.text(conditions.getFirst().name());
                    for (Condition condition : conditions) {
                        bind(parameters, condition);
                    }
                });
    }

    private static boolean isRange(Condition condition) {
        return condition.comparison() == Comparison.AT_LEAST || condition.comparison() == Comparison.BELOW;
    }

    private static String compared(String table, Condition condition) {
        String column = condition.value() instanceof AttributeValue.Time ? "at" : "number";
        return switch (condition.comparison()) {
            case IS, CONTAINS -> "%1$s.kind = ? AND %1$s.value = ?".formatted(table);
            case AT_LEAST -> "%s.%s >= ?".formatted(table, column);
            case BELOW -> "%s.%s < ?".formatted(table, column);
        };
    }

    private static void bind(Parameters parameters, Condition condition) throws SQLException {
        AttributeValue value = condition.value();
        if (isRange(condition) && value instanceof AttributeValue.Time time) {
            parameters.time(time.value());
        } else if (isRange(condition) && value instanceof AttributeValue.Decimal number) {
            parameters.object(number.value());
        } else {
            parameters
                    .text(value.kind().name().toLowerCase(Locale.ROOT))
                    .text(value.texts().getFirst());
        }
    }

    /** By the index of the rare states, if there are no others. */
    private void addStates(Set<RunState> states) {
        String column = RARE.containsAll(states) ? "r.rare_state" : "r.state";
        short[] codes = new short[states.size()];
        int index = 0;
        for (RunState state : states) {
            codes[index++] = Codes.of(state);
        }
        if (codes.length == 1) {
            add(column + " = ?::smallint", parameters -> parameters.integer((int) codes[0]));
        } else {
            add(column + " = ANY (?::smallint[])", parameters -> parameters.shorts(codes));
        }
    }

    private void addPrefix(String column, String prefix) {
        add(column + " >= ?", parameters -> parameters.text(prefix));
        String end = endOf(prefix);
        if (end != null) {
            add(column + " < ?", parameters -> parameters.text(end));
        }
    }

    /** The first text, in the order of code points, after all that begin with this one; null if there is none. */
    static @Nullable String endOf(String prefix) {
        int[] points = prefix.codePoints().toArray();
        for (int last = points.length - 1; last >= 0; last--) {
            if (points[last] < Character.MAX_CODE_POINT) {
                int next = points[last] + 1;
                points[last] = next == Character.MIN_SURROGATE ? Character.MAX_SURROGATE + 1 : next;
                return new String(points, 0, last + 1);
            }
        }
        return null;
    }

    void addPeriod(String column, Period period) {
        if (period.start().isAfter(EARLIEST)) {
            Instant start = earlier(period.start(), LATEST);
            add(column + " >= ?", parameters -> parameters.time(start));
        }
        if (period.end().isBefore(LATEST)) {
            Instant end = later(period.end(), EARLIEST);
            add(column + " < ?", parameters -> parameters.time(end));
        }
    }

    private static Instant earlier(Instant one, Instant other) {
        return one.isBefore(other) ? one : other;
    }

    private static Instant later(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }

    /** A run that ended before a time was created before it, which bounds a walk by creation. */
    void addEnded(Period period) {
        add("r.state >= ${COMPLETED}", parameters -> {});
        addPeriod("r.changed_at", period);
        addPeriod("${created_at}", new Period(Instant.MIN, period.end()));
    }

    private void addPage(RunInfo last, boolean oldestFirst) {
        String than = oldestFirst ? ">" : "<";
        // The first condition is the second one's bound on the index.
        add("${created_at} " + than + "= ?", parameters -> parameters.time(last.createdAt()));
        add(
                "(${created_at}, r.id) " + than + " (?, ?)",
                parameters -> parameters.time(last.createdAt()).text(last.id().value()));
    }
}
