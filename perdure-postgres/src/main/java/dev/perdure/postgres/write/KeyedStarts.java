package dev.perdure.postgres.write;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartKey;
import dev.perdure.postgres.hint.PostgresHints;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Micros;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.lane.Sender;
import dev.perdure.postgres.write.WriteContext.InsideException;
import dev.perdure.postgres.write.change.Batch;
import dev.perdure.postgres.write.change.Keys;
import dev.perdure.postgres.write.part.RunParts;
import dev.perdure.queue.Queue;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.FullKey;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Starts runs under keys, and in queues that do not let a start wait whose key in the queue is full.
 *
 * <p>How it works: a start is a transaction of several statements. It locks the row of its key, checks whether a run
 * has its id, and reads which run has the key. Then it starts the run, attaches to the other run, replaces it or
 * postpones it, with the statements that every batch uses. Starts under one key happen one after another, because each
 * holds the key until its commit. The state of the other run may change between the read and the commit: if it began or
 * ended just after it was read, it existed when this start came, so attaching to it or refusing the start is right.
 * Replacing and postponing are decided under the lock of that run.
 *
 * <p>A start in a queue with such a policy takes a lock of its key in the queue, so that the next start counts its run.
 * It checks its id under this lock too: a start that another process sends under the same id attaches, and does not take
 * its own run for one that fills the key. Claims need no such lock, because a run counts before and after it. An end
 * makes room; a start that came before its commit found the key full.
 *
 * <p>Lock order: the key, and then that of the queue, come before the lane and all runs; no other statement waits for a
 * key while it holds them.
 *
 * <p>If the process dies, the transaction leaves nothing. If the answer is lost, the start is sent again: its run is
 * identified by id and seed, and a debounced start by the seed that the key keeps.
 */
final class KeyedStarts {
    private final WriteContext context;
    private final StartKeySql sql;
    private final Keys keys;

    KeyedStarts(WriteContext context, Schema schema, Keys keys) {
        this.context = context;
        this.sql = new StartKeySql(schema);
        this.keys = keys;
    }

    /** Whether this is a start that is decided here: under a key, in a queue that may refuse it, or refused already. */
    boolean decides(Change change) {
        return change instanceof Change.Start start
                && (start.run().admission().startKey() != null
                        || start.run().admission().refusal() != null
                        || context.queues().decides(start));
    }

    Outcome apply(Sender sender, Change.Start start) {
        List<Hints.Hint> hints = new ArrayList<>();
        Outcome outcome = context.database().inTransaction(connection -> {
            hints.clear();
            try {
                return new Transaction(connection, sender, start, hints).start();
            } catch (InsideException failed) {
                throw failed.problem();
            }
        });
        hints.forEach(context.hints()::tell);
        return outcome;
    }

    /** Lets runs begin whose predecessors under their keys have ended. */
    void release() {
        boolean released = context.database().inTransaction(connection -> {
            settings(connection);
            try (PreparedStatement statement = Database.prepare(connection, sql.release)) {
                new Parameters(statement).time(context.database().time());
                try (ResultSet row = statement.executeQuery()) {
                    return row.next() && row.getLong("released") > 0;
                }
            }
        });
        if (released) {
            context.hints().tell(new Hints.WorkReady());
        }
    }

    /** Deletes keys that no longer count. */
    void forget() {
        context.database().inTransaction(connection -> {
            settings(connection);
            try (PreparedStatement statement = Database.prepare(connection, sql.forget)) {
                new Parameters(statement).time(context.database().time());
                return statement.execute();
            }
        });
    }

    private void settings(Connection connection) throws SQLException {
        context.script().send(connection, List.of(RunParts.settings(context.sql())));
    }

    /**
     * The run that has a key.
     *
     * @param at the time of this transaction
     * @param seed the seed of the last start that was answered
     * @param until the column {@code until} of the table
     * @param lives whether that time is still to come
     * @param run the run, or null if there is none
     * @param state its state
     * @param waits whether it waits for the end of its delay and has not begun
     * @param begun whether it, or one of its tasks, has begun
     * @param takesPlaces whether it holds a place in its queue or waits for one, or is to take that of another run
     * @param queue its queue
     * @param queueKey its key in the queue
     * @param sameInput whether it has the input of this start
     * @param after the run that it replaces, if that has not ended
     */
    private record Named(
            Instant at,
            long seed,
            @Nullable Instant until,
            boolean lives,
            @Nullable RunRef run,
            RunState state,
            boolean waits,
            boolean begun,
            boolean takesPlaces,
            @Nullable String queue,
            @Nullable String queueKey,
            boolean sameInput,
            @Nullable RunRef after) {
        boolean counts(StartKey.Until wanted) {
            return !state.isTerminal() && (wanted == StartKey.Until.ENDED || !begun);
        }

        /** Whether a run that replaces it takes its place in the queue, and so needs no other. */
        boolean leavesPlaceTo(NewRun next) {
            return takesPlaces && next.queue().equals(queue) && Objects.equals(next.queueKey(), queueKey);
        }
    }

    /**
     * The places of one key of a queue.
     *
     * @param policy what the queue does when they are full
     * @param most how many there are
     * @param taken how many runs hold them or wait for them; if the oldest of them may have to give way, without those that
     *     are asked to end
     * @param runs these runs, the first started first; if the oldest of them may have to give way, only those that may
     */
    private record Places(Queue.WhenKeyFull policy, int most, int taken, List<RunId> runs) {
        static Places read(ResultSet rows) throws SQLException {
            Queue.WhenKeyFull policy = Queue.WhenKeyFull.WAIT;
            int most = Queue.UNLIMITED;
            int taken = 0;
            List<RunId> runs = new ArrayList<>();
            while (rows.next()) {
                policy = Queue.WhenKeyFull.valueOf(rows.getString("policy"));
                most = Objects.requireNonNullElse(rows.getObject("places", Integer.class), Queue.UNLIMITED);
                String id = rows.getString("id");
                boolean mayYield = policy == Queue.WhenKeyFull.CANCEL_OLDEST;
                if (id != null && !(mayYield && rows.getBoolean("ends"))) {
                    taken++;
                    if (!mayYield || rows.getBoolean("yields")) {
                        runs.add(RunId.of(id));
                    }
                }
            }
            return new Places(policy, most, taken, runs);
        }

        boolean isFull() {
            return taken >= most;
        }

        /** Whether another start starts no run that can begin. */
        boolean turnsAway() {
            return isFull() && policy != Queue.WhenKeyFull.WAIT && policy != Queue.WhenKeyFull.CANCEL_OLDEST;
        }

        /** The runs that have to end before another one has a place. */
        List<RunId> oldest() {
            return runs.subList(0, Math.min(runs.size(), taken - most + 1));
        }
    }

    /** One start. */
    private final class Transaction {
        private final Connection connection;
        private final WriteContext inside;
        private final Sender sender;
        private final Change.Start start;
        private final NewRun run;
        /** Whether the policy of its queue decides it. */
        private final boolean placed;

        private final List<Hints.Hint> hints;

        Transaction(Connection connection, Sender sender, Change.Start start, List<Hints.Hint> hints) {
            this.connection = connection;
            this.sender = sender;
            this.start = start;
            this.run = start.run();
            this.placed = context.queues().decides(start);
            this.hints = hints;
            PostgresHints kept = new PostgresHints();
            kept.subscribe(hints::add);
            this.inside = context.inside(connection, kept);
        }

        Outcome start() throws SQLException {
            settings(connection);
            StartKey key = run.admission().startKey();
            if (key != null) {
                lock(key);
            }
            if (placed) {
                lockPlaces();
            }
            if (isThere()) { // read under the locks: another process may start the same run
                return apply(plain(start.owner()));
            }
            String refusal = run.admission().refusal();
            if (refusal != null) {
                return startCancelled(refusal);
            }
            return key == null ? admit() : start(key);
        }

        private Outcome start(StartKey key) throws SQLException {
            Named named = named(key);
            RunRef holder = named.run();
            if (holder == null) {
                return begin(key, named, null);
            }
            Outcome existing = new Outcome.Existing(holder, run.definition(), named.sameInput());
            return switch (key) {
                case StartKey.IdempotencyKey idempotency ->
                    named.lives() ? given(key, holder, existing) : begin(key, named, null);
                case StartKey.Debounce debounce -> debounced(debounce, named, holder);
                case StartKey.Deduplication deduplication
                when !named.counts(deduplication.until()) -> begin(key, named, named.after());
                case StartKey.Deduplication deduplication ->
                    switch (deduplication.duplicate()) {
                        case ATTACH -> given(key, holder, existing);
                        case REFUSE -> given(key, holder, new Outcome.KeyTaken(holder));
                        case REPLACE -> replace(deduplication, named, holder);
                    };
            };
        }

        private Outcome apply(Change change) {
            return new LookedUpPlan(inside, sender, new Batch(List.of(change), keys), true)
                    .outcomes()
                    .getFirst();
        }

        private Change.Start plain(@Nullable WorkerId owner) {
            return new Change.Start(
                    run.withAdmission(run.admission().withoutKey()), owner, start.mails(), start.tasks());
        }

        /** Another run has the key. */
        private Outcome given(StartKey key, RunRef holder, Outcome answer) {
            return run.admission().unanswered() ? startCancelled(Admission.given(key, holder.id())) : answer;
        }

        private Outcome startCancelled(String reason) {
            Outcome started = apply(plain(null));
            if (started instanceof Outcome.Started) {
                ended(run.id(), Change.CommandKind.EXPIRE, reason);
            }
            return started;
        }

        /** Starts the run, unless the key of its queue is full and the queue does not let such starts wait. */
        private Outcome admit() throws SQLException {
            return placed ? admit(places()) : apply(plain(start.owner()));
        }

        private Outcome admit(Places places) {
            if (!places.isFull()) {
                return apply(plain(start.owner()));
            }
            FullKey full = new FullKey(run.queue(), queueKey(), places.most(), places.runs());
            return switch (places.policy()) {
                case WAIT -> apply(plain(start.owner()));
                case REFUSE ->
                    run.admission().unanswered()
                            ? startCancelled(full.reason(places.policy()))
                            : new Outcome.KeyFull(full);
                case DROP_NEWEST -> startCancelled(full.reason(places.policy()));
                case CANCEL_OLDEST -> {
                    for (RunId oldest : places.oldest()) {
                        ended(oldest, Change.CommandKind.CANCEL, full.cancelledFor(run.id()));
                    }
                    yield apply(plain(start.owner()));
                }
            };
        }

        private String queueKey() {
            return Objects.requireNonNull(run.queueKey());
        }

        private Outcome replace(StartKey.Deduplication deduplication, Named named, RunRef holder) throws SQLException {
            boolean needsPlace = placed && !named.leavesPlaceTo(run);
            Places places = needsPlace ? places() : null;
            if (places != null && places.turnsAway()) {
                return admit(places);
            }
            String reason = Admission.replaced(deduplication, run.id());
            RunRef before = named.after();
            if (!ended(holder.id(), Change.CommandKind.EXPIRE, reason)
                    && deduplication.until() == StartKey.Until.ENDED) {
                before = ended(holder.id(), Change.CommandKind.CANCEL, reason) ? null : holder;
            }
            Outcome outcome = places == null ? apply(plain(before == null ? start.owner() : null)) : admit(places);
            return named(deduplication, named, before, outcome);
        }

        /** Sends a run a command. Returns whether it has ended. */
        private boolean ended(RunId other, Change.CommandKind kind, String reason) {
            Outcome outcome = apply(new Change.Command(other, kind, reason));
            boolean ended = outcome instanceof Outcome.Commanded commanded
                    && commanded.state().isTerminal();
            if (ended) {
                hints.add(new Hints.RunEnded(other));
            }
            return ended;
        }

        private Outcome debounced(StartKey.Debounce debounce, Named named, RunRef holder) throws SQLException {
            boolean repeated = named.seed() == run.seed();
            if (!repeated && !(named.waits() && postponed(debounce, named, holder))) {
                return begin(debounce, named, null);
            }
            return given(debounce, holder, new Outcome.Existing(holder, run.definition(), true));
        }

        /** @param before the run that has to end first, or null */
        private Outcome begin(StartKey key, Named named, @Nullable RunRef before) throws SQLException {
            return named(key, named, before, before == null ? admit() : apply(plain(null)));
        }

        private Outcome named(StartKey key, Named named, @Nullable RunRef before, Outcome outcome) throws SQLException {
            if (outcome instanceof Outcome.Started started) {
                if (before != null) {
                    holdBack(started.run(), before);
                }
                name(key, started.run(), before, until(key, named.at()));
            }
            return outcome;
        }

        private static @Nullable Instant until(StartKey key, Instant now) {
            return switch (key) {
                case StartKey.Deduplication deduplication -> null;
                case StartKey.IdempotencyKey idempotency ->
                    now.plus(Micros.of(idempotency.timeToLive()), ChronoUnit.MICROS);
                case StartKey.Debounce debounce -> now.plus(Micros.of(debounce.longestWait()), ChronoUnit.MICROS);
            };
        }

        // ---- statements

        private void lockPlaces() throws SQLException {
            try (PreparedStatement statement = Database.prepare(connection, sql.lockPlaces)) {
                new Parameters(statement).text(run.queue()).text(queueKey());
                statement.execute();
            }
        }

        private Places places() throws SQLException {
            try (PreparedStatement statement = Database.prepare(connection, sql.places)) {
                new Parameters(statement)
                        .text(queueKey())
                        .text(run.queue())
                        .text(run.queue())
                        .text(queueKey())
                        .text(run.queue())
                        .text(queueKey());
                try (ResultSet rows = statement.executeQuery()) {
                    return Places.read(rows);
                }
            }
        }

        private Parameters key(StartKey key, Parameters parameters) throws SQLException {
            return parameters.text(run.definition()).text(key.key()).integer(Codes.of(key));
        }

        private boolean isThere() throws SQLException {
            try (PreparedStatement statement = Database.prepare(connection, sql.find)) {
                new Parameters(statement).text(run.id().value());
                try (ResultSet row = statement.executeQuery()) {
                    return row.next();
                }
            }
        }

        private void lock(StartKey key) throws SQLException {
            try (PreparedStatement statement = Database.prepare(connection, sql.lock)) {
                key(key, new Parameters(statement)).time(context.database().time());
                statement.execute();
            }
        }

        private Named named(StartKey key) throws SQLException {
            try (PreparedStatement statement = Database.prepare(connection, sql.named)) {
                key(
                        key,
                        new Parameters(statement)
                                .bytes(run.input().bytes())
                                .time(context.database().time()));
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    RunState state = Codes.state(row.getInt("state"));
                    boolean waits = state == RunState.SUSPENDED && row.getLong("epoch") == 0;
                    return new Named(
                            Results.time(row, "at"),
                            row.getLong("seed"),
                            Results.timeOrNull(row, "until"),
                            row.getBoolean("lives"),
                            ref(row, "key", "id"),
                            state,
                            waits,
                            row.getBoolean("begun"),
                            state != RunState.PAUSED && !waits,
                            row.getString("queue"),
                            row.getString("queue_key"),
                            row.getBoolean("same_input"),
                            ref(row, "after_key", "after_id"));
                }
            }
        }

        private static @Nullable RunRef ref(ResultSet row, String key, String id) throws SQLException {
            String found = row.getString(id);
            return found == null ? null : new RunRef(RunId.of(found), row.getLong(key));
        }

        private void name(StartKey key, RunRef named, @Nullable RunRef after, @Nullable Instant until)
                throws SQLException {
            boolean untilEnded = key instanceof StartKey.Deduplication deduplication
                    && deduplication.until() == StartKey.Until.ENDED;
            Instant lookAt = key instanceof StartKey.IdempotencyKey ? until : null;
            try (PreparedStatement statement = Database.prepare(connection, sql.name)) {
                Parameters parameters = new Parameters(statement)
                        .text(untilEnded ? key.key() : null)
                        .number(named.key())
                        .object(after == null ? null : after.key())
                        .number(run.seed())
                        .time(until)
                        .time(lookAt);
                key(key, parameters);
                statement.execute();
            }
        }

        private boolean postponed(StartKey.Debounce debounce, Named named, RunRef holder) throws SQLException {
            try (PreparedStatement statement = Database.prepare(connection, sql.postpone)) {
                Parameters parameters = new Parameters(statement)
                        .time(context.database().time())
                        .number(Micros.of(debounce.quiet()))
                        .time(named.until())
                        .number(holder.key())
                        .bytes(run.input().bytes())
                        .number(run.seed());
                key(debounce, parameters);
                try (ResultSet row = statement.executeQuery()) {
                    boolean postponed = row.next();
                    if (postponed) {
                        hints.add(new Hints.WorkReady());
                    }
                    return postponed;
                }
            }
        }

        private void holdBack(RunRef held, RunRef before) throws SQLException {
            try (PreparedStatement statement = Database.prepare(connection, sql.holdBack)) {
                new Parameters(statement).number(held.key()).text(Admission.replaces(before.id()));
                statement.execute();
            }
        }
    }
}
