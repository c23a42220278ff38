package dev.perdure.postgres.read;

import dev.perdure.RunCount;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditFilter;
import dev.perdure.audit.Operator;
import dev.perdure.postgres.hint.WaitingCallers;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Descriptions;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.queue.Placement;
import dev.perdure.spi.Runs;
import dev.perdure.spi.WaitReason;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Premise;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.RunSelection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Answers queries about runs. */
public final class PostgresRuns implements Runs {
    private static final String LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

    private final Database database;
    private final Query query;
    private final QuerySql sql;
    private final ObjectListSql objectLists;
    private final StartedRuns started;
    private final WaitingCallers waitingCallers;

    public PostgresRuns(Database database, QuerySql sql, ObjectListSql objectLists, WaitingCallers waitingCallers) {
        this.database = database;
        this.query = new Query(database);
        this.sql = sql;
        this.objectLists = objectLists;
        this.started = new StartedRuns(database, sql.schema);
        this.waitingCallers = waitingCallers;
    }

    @Override
    public Optional<Found> find(RunId id) {
        return query
                .all(
                        sql.find,
                        parameters -> parameters.time(database.time()).text(id.value()),
                        row -> new Found(new RunRef(id, row.getLong("key")), info(row)))
                .stream()
                .findFirst();
    }

    @Override
    public List<RunInfo> list(RunSelection selection) {
        return database.unreadable().page(selection.filter().limit(), PostgresRuns::info, (most, reader) -> {
            FilterSql.Statement statement = FilterSql.list(sql.schema, selection, most, database.time());
            return query.byIndex(statement.text(), statement.binding(), reader);
        });
    }

    @Override
    public Map<RunState, RunCount> count(RunSelection selection) {
        FilterSql.Statement statement = FilterSql.count(sql.schema, selection);
        Map<RunState, RunCount> counts = new EnumMap<>(RunState.class);
        query.readableByIndex(
                statement.text(),
                statement.binding(),
                row -> counts.put(Codes.state(row.getInt("state")), RunCount.seen(row.getInt("runs"))));
        counts.values().removeIf(count -> count.runs() == 0);
        return counts;
    }

    static RunInfo info(ResultSet row) throws SQLException {
        RunState state = Codes.state(row.getInt("state"));
        Instant wakeAt = Results.timeOrNull(row, "wake_at");
        List<String> awaited = state == RunState.SUSPENDED ? Results.texts(row, "awaited") : List.of();
        return new RunInfo(
                RunId.of(row.getString("id")),
                row.getString("definition"),
                state,
                WaitReason.of(state, row.getString("reason"), wakeAt, awaited),
                Results.time(row, "created_at"),
                Results.time(row, "changed_at"),
                Optional.ofNullable(wakeAt),
                row.getInt("recoveries"),
                awaited,
                Descriptions.read(row));
    }

    @Override
    public Optional<Latest> latest(RunId id) {
        return latest(id.value(), id.value(), id.value() + '\u0001', 1).stream().findFirst();
    }

    @Override
    public List<Latest> latest(String prefix, String after, int limit) {
        int last = prefix.length() - 1;
        String end = prefix.substring(0, last) + (char) (prefix.charAt(last) + 1);
        return latest(prefix, after + '\u0001', end, limit);
    }

    private List<Latest> latest(String prefix, String from, String end, int limit) {
        return database.unreadable()
                .page(
                        limit,
                        PostgresRuns::latest,
                        (most, reader) -> query.all(
                                sql.latest,
                                parameters -> parameters
                                        .time(database.time())
                                        .text(from)
                                        .text(prefix)
                                        .text(end)
                                        .integer(most),
                                reader));
    }

    private static Latest latest(ResultSet row) throws SQLException {
        return new Latest(
                new RunRef(RunId.of(row.getString("id")), row.getLong("key")),
                info(row),
                payload(row.getBytes("recorded")));
    }

    @Override
    public Optional<Payload> input(RunRef run) {
        return query
                .all(sql.input, parameters -> parameters.number(run.key()), row -> payload(row.getBytes("input")))
                .stream()
                .findFirst();
    }

    @Override
    public Optional<NewRun> settings(RunId run) {
        return query.all(sql.settings, parameters -> parameters.text(run.value()), row -> settings(run, row)).stream()
                .findFirst();
    }

    private static NewRun settings(RunId run, ResultSet row) throws SQLException {
        return new NewRun(
                run,
                row.getString("definition"),
                Payload.EMPTY,
                row.getLong("seed"),
                row.getString("queue"),
                row.getInt("priority"),
                row.getString("version"),
                null,
                null,
                null,
                null,
                Descriptions.read(row),
                row.getString("queue_key"),
                new Admission(null, row.getInt("weight")).at(Placement.of(row.getString("placement"))));
    }

    @Override
    public Optional<Basis> basis(RunRef run) {
        List<Premise> premises = query.all(
                sql.premises,
                parameters -> parameters.number(run.key()),
                row -> new Premise(
                        new RunRef(RunId.of(row.getString("id")), row.getLong("key")),
                        Codes.state(row.getInt("state")),
                        payload(row.getBytes("outcome")),
                        row.getString("reason")));
        return query
                .all(
                        sql.basis,
                        parameters -> parameters.number(run.key()),
                        row -> new Basis(
                                row.getString("version"),
                                payload(row.getBytes("input")),
                                row.getLong("seed"),
                                Results.timeOrNull(row, "deadline"),
                                premises,
                                Results.object(row)))
                .stream()
                .findFirst();
    }

    @Override
    public List<Ended> ended(Collection<RunRef> runs) {
        if (runs.isEmpty()) {
            return List.of();
        }
        List<RunRef> asked = List.copyOf(runs);
        List<Ended> ended = query.readable(
                sql.ended,
                parameters ->
                        parameters.longs(asked.stream().mapToLong(RunRef::key).toArray()),
                row -> ended(asked.get(row.getInt("ordinal") - 1), row));
        if (ended.size() < asked.size()) {
            waitingCallers.add();
        }
        return ended;
    }

    private static Ended ended(RunRef run, ResultSet row) throws SQLException {
        return row.getString("id") == null
                ? Ended.removed(run)
                : new Ended(
                        run,
                        Codes.state(row.getInt("state")),
                        payload(row.getBytes("outcome")),
                        Objects.requireNonNullElse(row.getString("reason"), ""));
    }

    @Override
    public List<RunRef> liveChildren(Collection<RunRef> parents) {
        return query.readable(
                sql.liveChildren,
                parameters ->
                        parameters.longs(parents.stream().mapToLong(RunRef::key).toArray()),
                row -> new RunRef(RunId.of(row.getString("id")), row.getLong("key")));
    }

    @Override
    public List<TaskRow> tasks(RunRef run) {
        return startedRuns(sql.tasks, sql.taskChanges, parameters -> parameters.number(run.key()));
    }

    @Override
    public List<TaskRow> children(RunRef run) {
        return startedRuns(
                sql.children,
                sql.childrenChanges,
                parameters -> parameters.number(run.key()).number(run.key()));
    }

    @Override
    public BelowPage tasks(RunRef run, BelowPlace after, int limit) {
        return started.tasks(run, after, limit);
    }

    @Override
    public BelowPage children(RunRef run, BelowPlace after, int limit) {
        return started.children(run, after, limit);
    }

    /** Tasks or children with their states. */
    List<TaskRow> startedRuns(String members, String changes, Query.Binding parent) {
        Map<Long, Integer> places = new HashMap<>();
        List<UnplacedTask> tasks =
                query.readable(members, parameters -> parent.bind(parameters.time(database.time())), row -> {
                    UnplacedTask task = new UnplacedTask(
                            row.getLong("key"),
                            info(row),
                            Results.longs(row, "after"),
                            payload(row.getBytes("outcome")));
                    places.put(task.key(), places.size());
                    return task;
                });
        if (tasks.isEmpty()) {
            return List.of();
        }
        Map<Long, List<Entered>> histories = new HashMap<>();
        query.all(
                changes,
                parent,
                row -> histories
                        .computeIfAbsent(row.getLong("key"), none -> new ArrayList<>())
                        .add(entered(row)));
        return tasks.stream()
                .map(task -> new TaskRow(
                        new RunRef(task.info().id(), task.key()),
                        task.info(),
                        task.after().stream()
                                .filter(places::containsKey) // the others are removed already
                                .map(places::get)
                                .toList(),
                        task.outcome(),
                        List.copyOf(histories.getOrDefault(task.key(), List.of()))))
                .toList();
    }

    /** A task with the keys of the tasks that it comes after. */
    private record UnplacedTask(long key, RunInfo info, List<Long> after, Payload outcome) {}

    private static Entered entered(ResultSet row) throws SQLException {
        return new Entered(
                Codes.state(row.getInt("state")),
                Results.time(row, "at"),
                Objects.requireNonNullElse(row.getString("reason"), ""));
    }

    private static Payload payload(byte @Nullable [] bytes) {
        return bytes == null ? Payload.EMPTY : new Payload(bytes);
    }

    @Override
    public Optional<RunInfo> holder(ObjectKey object) {
        return query
                .byIndex(
                        objectLists.holder,
                        parameters -> parameters
                                .time(database.time())
                                .text(object.type())
                                .text(object.key()),
                        PostgresRuns::info)
                .stream()
                .findFirst();
    }

    @Override
    public List<WaitingCall> waitingCalls(ObjectKey object, long after, int limit) {
        return database.unreadable()
                .page(
                        limit,
                        row -> new WaitingCall(row.getLong("number"), info(row)),
                        (most, reader) -> query.byIndex(
                                objectLists.waiting,
                                parameters -> parameters
                                        .time(database.time())
                                        .text(object.type())
                                        .text(object.key())
                                        .number(after)
                                        .integer(most),
                                reader));
    }

    @Override
    public List<Entered> entered(RunRef run) {
        return query.all(
                sql.changes,
                parameters -> parameters
                        .number(run.key())
                        .number(run.key())
                        .number(run.key())
                        .number(run.key()),
                PostgresRuns::entered);
    }

    @Override
    public List<NumberedState> entered(RunRef run, int after, int limit) {
        return query.byIndex(
                sql.changesPage,
                parameters -> parameters.number(run.key()).integer(after).integer(limit),
                row -> new NumberedState(row.getInt("number"), entered(row)));
    }

    @Override
    public List<AuditEntry> audited(AuditFilter filter) {
        AuditEntry after = filter.after().orElse(null);
        boolean named = filter.name().isPresent();
        return database.unreadable()
                .page(
                        filter.limit(),
                        PostgresRuns::entry,
                        (most, reader) -> query.all(
                                named ? sql.auditedOf : sql.audited,
                                parameters -> {
                                    if (named) {
                                        parameters
                                                .text(filter.name().orElseThrow())
                                                .text(filter.subject()
                                                        .orElseThrow()
                                                        .name());
                                    }
                                    parameters
                                            .time(after == null ? null : after.at())
                                            .text(
                                                    after == null
                                                            ? LAST_ID
                                                            : after.id().toString())
                                            .integer(most);
                                },
                                reader));
    }

    @Override
    public String mark() {
        return query.all(QuerySql.MARK, parameters -> {}, row -> row.getString("mark"))
                .getFirst();
    }

    private static AuditEntry entry(ResultSet row) throws SQLException {
        return new AuditEntry(
                row.getObject("id", UUID.class),
                Results.time(row, "at"),
                new Operator(row.getString("operator"), row.getString("origin")),
                AuditEntry.Action.valueOf(row.getString("action")),
                AuditEntry.Subject.valueOf(row.getString("subject")),
                row.getString("name"),
                row.getInt("position"),
                row.getString("detail"));
    }
}
