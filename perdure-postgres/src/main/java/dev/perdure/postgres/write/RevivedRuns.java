package dev.perdure.postgres.write;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.postgres.hint.PostgresHints;
import dev.perdure.postgres.jdbc.AuditText;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Descriptions;
import dev.perdure.postgres.jdbc.Micros;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.lane.Sender;
import dev.perdure.postgres.write.WriteContext.InsideException;
import dev.perdure.postgres.write.change.Batch;
import dev.perdure.postgres.write.change.Keys;
import dev.perdure.postgres.write.part.MailParts;
import dev.perdure.postgres.write.part.RunParts;
import dev.perdure.queue.Placement;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.ForkPlan;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RetryPlan;
import dev.perdure.spi.change.RunRef;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Lets runs that have ended continue, repairs journals, forks runs, and moves runs. Operators ask for this, so each is a transaction of its own.
 *
 * <p>How it works: the transaction locks the run's deduplication key, if it has one, and then the run and its parent. It
 * reads its journal without payloads, and decides as every store does
 * ({@link RetryPlan}, {@link ForkPlan}). A retry then removes the entries, makes the run ready, and delivers the
 * outcomes of children that ended meanwhile. A fork starts a run like any other, and copies the entries before the
 * transaction commits, so no worker sees the run without them.
 *
 * <p>If the answer is lost, the request is sent again. A retry names when the run ended, and finds that it has not
 * ended so any more. A fork is identified by id and seed, like any start.
 */
final class RevivedRuns {
    private final WriteContext context;
    private final RetrySql sql;
    private final RepairSql repairSql;
    private final ReassignedRun reassigned;
    private final StartKeySql keySql;
    private final Keys keys;

    RevivedRuns(WriteContext context, Schema schema, Keys keys) {
        this.context = context;
        this.sql = new RetrySql(schema);
        this.repairSql = new RepairSql(schema);
        this.reassigned = new ReassignedRun(context, schema);
        this.keySql = new StartKeySql(schema);
        this.keys = keys;
    }

    /** Whether this change is carried out here. */
    static boolean decides(Change change) {
        return change instanceof Change.Retry
                || change instanceof Change.Retell
                || change instanceof Change.Rerun
                || change instanceof Change.Fork
                || change instanceof Change.Repair
                || change instanceof Change.Reassign;
    }

    /** What is kept for other shards is told when the transaction has committed: before, nobody would find it. */
    Outcome apply(Sender sender, Change change) {
        Outcome outcome = applied(sender, change);
        boolean sends = change instanceof Change.Retell
                || (change instanceof Change.Retry retry && !retry.sends().isEmpty());
        if (sends && outcome instanceof Outcome.Applied) {
            context.hints().tell(new Hints.OutgoingKept());
        }
        return outcome;
    }

    private Outcome applied(Sender sender, Change change) {
        return context.database().inTransaction(connection -> {
            context.script().send(connection, List.of(RunParts.settings(context.sql())));
            try {
                return switch (change) {
                    case Change.Retry retry -> retry(connection, sender, retry);
                    case Change.Retell retell -> retell(connection, sender, retell);
                    case Change.Rerun rerun -> rerun(connection, sender, rerun);
                    case Change.Fork fork -> fork(connection, sender, fork);
                    case Change.Repair repair -> repair(connection, repair);
                    case Change.Reassign reassign -> reassigned.apply(connection, reassign);
                    default -> throw new IllegalArgumentException("Not decided here: " + change);
                };
            } catch (InsideException failed) {
                throw failed.problem();
            }
        });
    }

    /**
     * A run as it was found.
     *
     * @param told the run that has got its outcome, or null
     */
    private record Found(
            long key,
            RunState state,
            Instant changedAt,
            int restarts,
            boolean removed,
            boolean hasTasks,
            boolean isTask,
            boolean calls,
            @Nullable String told,
            Instant at,
            NewRun start) {}

    private @Nullable Found find(Connection connection, RunId run) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql.lock)) {
            new Parameters(statement).text(run.value());
            statement.execute();
        }
        try (PreparedStatement statement = Database.prepare(connection, sql.find)) {
            new Parameters(statement).time(context.database().time()).text(run.value());
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? found(row) : null;
            }
        }
    }

    private static Found found(ResultSet row) throws SQLException {
        byte[] input = row.getBytes("input");
        Integer weight = row.getObject("weight", Integer.class);
        NewRun start = new NewRun(
                RunId.of(row.getString("id")),
                row.getString("definition"),
                input == null ? Payload.EMPTY : new Payload(input),
                row.getLong("seed"),
                row.getString("queue"),
                row.getInt("priority"),
                null,
                Micros.durationOrNull(row, "timeout"),
                null,
                null,
                null,
                Descriptions.read(row),
                row.getString("queue_key"),
                new Admission(null, weight == null ? 1 : weight).at(Placement.of(row.getString("placement"))));
        return new Found(
                row.getLong("key"),
                Codes.state(row.getInt("state")),
                Results.time(row, "changed_at"),
                row.getInt("restarts"),
                row.getBoolean("removed"),
                row.getBoolean("has_tasks"),
                row.getBoolean("is_task"),
                row.getBoolean("calls"),
                row.getString("told"),
                Results.time(row, "at"),
                start);
    }

    private List<Recorded> entries(Connection connection, long key) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql.entries)) {
            new Parameters(statement).number(key);
            try (ResultSet rows = statement.executeQuery()) {
                List<Recorded> entries = new ArrayList<>();
                while (rows.next()) {
                    Entry entry = new Entry(
                            rows.getInt("position"),
                            rows.getInt("note"),
                            Codes.kind(rows.getInt("kind")),
                            rows.getString("name"),
                            Codes.recordedStatus(rows.getInt("status")),
                            Payload.EMPTY);
                    entries.add(new Recorded(entry, Results.time(rows, "at")));
                }
                return entries;
            }
        }
    }

    // ---- retry

    private Outcome retry(Connection connection, Sender sender, Change.Retry retry) throws SQLException {
        RetriedKey key = RetriedKey.lock(connection, keySql, retry.run(), context.database());
        Found run = find(connection, retry.run());
        if (run == null) {
            return new Outcome.UnknownRun();
        }
        if (!run.state().isTerminal() || !run.changedAt().equals(retry.ended())) {
            return new Outcome.AlreadyThere(run.changedAt(), run.state());
        }
        RetryPlan plan = RetryPlan.of(entries(connection, run.key()), run.changedAt());
        String refusal = refusal(retry.run(), run, plan, key);
        if (refusal != null) {
            return new Outcome.Refused(refusal);
        }
        if (key != null) {
            key.takeBack();
        }
        List<RetryPlan.Place> removed = new ArrayList<>(plan.removed());
        removed.add(new RetryPlan.Place(Codes.OUTCOME, 0));
        Part part = new Part(
                sql.retry, parameters -> places(parameters.time(run.at()).number(run.key()), removed));
        context.script().send(connection, List.of(part));
        long[] missed = missed(connection, run);
        if (missed.length > 0) {
            context.script()
                    .send(
                            connection,
                            List.of(MailParts.answer(
                                    context.sql().mail, context.by(sender), missed, new String[0], Results::skip)));
        }
        if (!retry.sends().isEmpty()) {
            context.script().send(connection, List.of(sends(run, retry.sends())));
        }
        audit(connection, retry.audit(), run);
        return new Outcome.Applied(run.at(), RunState.READY);
    }

    private Part sends(Found run, List<Effect.Send> sends) {
        return new Part(
                sql.send,
                parameters -> parameters
                        .number(run.key())
                        .uuids(sends.stream().map(Effect.Send::token).toArray(UUID[]::new))
                        .ints(sends.stream().mapToInt(Effect.Send::partition).toArray())
                        .bytes(sends.stream().map(send -> send.change().bytes()).toArray(byte[][]::new))
                        .bytes(sends.stream().map(send -> send.value().bytes()).toArray(byte[][]::new)));
    }

    /**
     * No lock: a run that ends meanwhile tells its outcome itself, under the same token. A copy that is still kept may have been
     * applied in vain before the caller was retried, and is then removed by its number. So it is kept anew, under another one.
     */
    private Outcome retell(Connection connection, Sender sender, Change.Retell retell) throws SQLException {
        RunState state;
        Instant at;
        long[] telling;
        UUID token;
        try (PreparedStatement statement = Database.prepare(connection, sql.toTell)) {
            new Parameters(statement)
                    .time(context.database().time())
                    .number(retell.caller().run().key())
                    .integer(retell.caller().life())
                    .integer(retell.caller().position())
                    .text(retell.run().value());
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    return new Outcome.UnknownRun();
                }
                state = Codes.state(row.getInt("state"));
                at = Results.time(row, "at");
                token = new UUID(row.getLong("key"), row.getLong("seed"));
                telling = row.getBoolean("told") ? new long[] {row.getLong("key")} : new long[0];
            }
        }
        if (telling.length > 0) {
            context.script()
                    .send(
                            connection,
                            List.of(
                                    new Part(
                                            sql.untell, parameters -> parameters.text(token.toString()), Results::skip),
                                    context.sql()
                                            .elsewhere
                                            .tell(context.by(sender), telling, new String[0], () -> {})));
        }
        return new Outcome.Applied(at, state);
    }

    private void audit(Connection connection, @Nullable Audit audit, Found run) throws SQLException {
        if (audit != null) {
            context.script()
                    .send(
                            connection,
                            List.of(new Part(
                                    sql.audit,
                                    parameters -> parameters
                                            .text(AuditText.of(audit))
                                            .time(run.at())
                                            .number(run.key()))));
        }
    }

    /** Why the run cannot be retried, or null. */
    private static @Nullable String refusal(RunId id, Found run, RetryPlan plan, @Nullable RetriedKey key)
            throws SQLException {
        if (run.removed()) {
            return Outcome.Refused.removed(id).reason();
        }
        String refusal = Change.Retry.refusal(id, run.state(), run.hasTasks(), run.isTask(), run.calls(), run.told());
        if (refusal == null) {
            refusal = plan.refusal();
        }
        String rival = refusal == null && key != null ? key.rival() : null;
        return rival == null
                ? refusal
                : Change.Retry.keyTaken(id, Objects.requireNonNull(key).text(), rival);
    }

    private static Parameters places(Parameters parameters, List<RetryPlan.Place> places) throws SQLException {
        return parameters
                .ints(places.stream().mapToInt(RetryPlan.Place::position).toArray())
                .ints(places.stream().mapToInt(RetryPlan.Place::note).toArray());
    }

    private long[] missed(Connection connection, Found run) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql.missed)) {
            new Parameters(statement).number(run.key()).integer(run.restarts());
            try (ResultSet rows = statement.executeQuery()) {
                List<Long> missed = new ArrayList<>();
                while (rows.next()) {
                    missed.add(rows.getLong("key"));
                }
                return missed.stream().mapToLong(Long::longValue).toArray();
            }
        }
    }

    // ---- rerun

    /** The run and its tasks begin anew as in any batch. If another run has the key, the transaction leaves nothing of that. */
    private Outcome rerun(Connection connection, Sender sender, Change.Rerun rerun) throws SQLException {
        RetriedKey key = RetriedKey.lock(connection, keySql, rerun.run(), context.database());
        Found run = find(connection, rerun.run());
        if (run == null) {
            return new Outcome.UnknownRun();
        }
        boolean goneOn = rerun.ended() != null
                && !(run.state().isTerminal() && run.changedAt().equals(rerun.ended()));
        if (run.start().seed() == rerun.seed() || goneOn) {
            return new Outcome.AlreadyThere(run.changedAt(), run.state());
        }
        if (run.removed()) {
            return Outcome.Refused.removed(rerun.run());
        }
        String refusal =
                Change.Rerun.refusal(rerun.run(), run.state(), run.hasTasks(), run.isTask(), run.calls(), run.told());
        if (refusal != null) {
            return new Outcome.Refused(refusal);
        }
        Outcome outcome = applied(connection, sender, rerun);
        if (key == null || !(outcome instanceof Outcome.Applied)) {
            return outcome;
        }
        String rival = key.rival();
        if (rival != null) {
            connection.rollback();
            return new Outcome.Refused(Change.Rerun.keyTaken(rerun.run(), key.text(), rival));
        }
        key.takeBack();
        return outcome;
    }

    /** The outcome of a change that is sent as in any batch, but in this transaction. */
    private Outcome applied(Connection connection, Sender sender, Change change) {
        WriteContext inside = context.inside(connection, new PostgresHints());
        return new LookedUpPlan(inside, sender, new Batch(List.of(change), keys), true)
                .outcomes()
                .getFirst();
    }

    // ---- repair

    /** Under the lock of a run that no worker holds, so that none takes it with the old answer. */
    private Outcome repair(Connection connection, Change.Repair repair) throws SQLException {
        RetriedKey key = RetriedKey.lock(connection, keySql, repair.run(), context.database());
        Found run = find(connection, repair.run());
        if (run == null) {
            return new Outcome.UnknownRun();
        }
        if (isAudited(connection, repair.audit())) {
            return new Outcome.AlreadyThere(run.changedAt(), run.state());
        }
        if (run.removed()) {
            return Outcome.Refused.removed(repair.run());
        }
        String refusal = Change.Repair.refusal(repair.run(), run.state());
        List<Recorded> journal = entries(connection, run.key());
        List<RetryPlan.Place> removed = new ArrayList<>();
        if (refusal == null && run.state().isTerminal()) {
            RetryPlan plan = RetryPlan.of(journal, run.changedAt());
            refusal = refusal(repair.run(), run, plan, key);
            removed.addAll(plan.removedBeside(repair.position()));
        }
        if (refusal != null) {
            return new Outcome.Refused(refusal);
        }
        Entry answer = repair.answer(journal);
        if (answer == null) {
            return new Outcome.Refused(repair.noStep());
        }
        Instant at = repair.time(journal, run.state(), run.changedAt(), run.at());
        Part part = new Part(
                repairSql.repair,
                parameters -> places(
                        parameters
                                .number(run.key())
                                .integer(answer.position())
                                .time(at)
                                .integer((int) Codes.of(answer.kind()))
                                .integer((int) Codes.of(answer.status()))
                                .text(answer.name())
                                .bytes(answer.payload().bytes()),
                        removed));
        context.script().send(connection, List.of(part));
        audit(connection, repair.audit(), run);
        return new Outcome.Applied(run.at(), run.state());
    }

    private boolean isAudited(Connection connection, Audit audit) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, repairSql.audited)) {
            new Parameters(statement).text(audit.id().toString());
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    // ---- fork

    private Outcome fork(Connection connection, Sender sender, Change.Fork fork) throws SQLException {
        Found source = find(connection, fork.from());
        if (source == null) {
            return new Outcome.UnknownRun();
        }
        if (source.removed()) {
            return Outcome.Refused.removed(fork.from());
        }
        String refusal = Change.Fork.refusal(
                fork.from(), source.start().description(), source.hasTasks(), source.isTask(), source.calls());
        if (refusal != null) {
            return new Outcome.Refused(refusal);
        }
        ForkPlan plan = ForkPlan.of(entries(connection, source.key()), fork.position(), fork.compensated());
        if (plan.refusal() != null) {
            return new Outcome.Refused(plan.refusal());
        }
        if (fork.isOutdated(plan, source.start())) {
            return new Outcome.Outdated();
        }
        Outcome outcome = applied(connection, sender, new Change.Start(fork.of(source.start()), null));
        if (outcome instanceof Outcome.Started started) {
            copy(connection, source, fork, plan, started.run());
            audit(connection, fork.audit(), source);
        }
        return outcome;
    }

    private void copy(Connection connection, Found source, Change.Fork fork, ForkPlan plan, RunRef run)
            throws SQLException {
        if (!plan.copied().isEmpty()) {
            context.script()
                    .send(
                            connection,
                            List.of(new Part(
                                    sql.copy,
                                    parameters -> places(
                                                    parameters
                                                            .number(run.key())
                                                            .number(run.key())
                                                            .number(source.key()),
                                                    plan.places())
                                            .bytes(anew(fork, plan)))));
        }
    }

    /** The payloads that the fork has in the place of those of the other run, as the plan lists them. */
    private static byte[] @Nullable [] anew(Change.Fork fork, ForkPlan plan) {
        Map<RetryPlan.Place, byte[]> payloads = new HashMap<>();
        fork.entries()
                .forEach(entry -> payloads.put(
                        new RetryPlan.Place(entry.position(), entry.note()),
                        entry.payload().bytes()));
        return payloads.isEmpty()
                ? new byte[0][]
                : plan.places().stream().map(payloads::get).toArray(byte[][]::new);
    }
}
