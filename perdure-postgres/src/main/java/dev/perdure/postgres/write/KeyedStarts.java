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
import dev.perdure.postgres.write.part.StartKeySql;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
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
import org.jspecify.annotations.Nullable;

/**
 * Starts runs under keys.
 *
 * <p>How it works: a start is a transaction of several statements. It locks the row of its key, reads what the key names, and then starts
 * the run, attaches to another, or replaces or postpones that one, by the statements that every batch uses. Starts under one key come one
 * after another, because each holds the key until its commit. What it reads of the named run may change until then: a run that has
 * begun or ended just after it was read was there when this start came, so attaching to it and refusing are right. To replace a
 * run and to postpone it are decided under the lock of that run.
 *
 * <p>Lock order: the key comes before the lane and all runs; no other statement waits for a key while it holds them.
 *
 * <p>If the process dies, the transaction leaves nothing. If the answer is lost, the start is sent again: its run is known by id and seed,
 * and a debounced start by the seed that the key keeps.
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

    static @Nullable StartKey keyOf(Change change) {
        return change instanceof Change.Start start ? start.run().admission().startKey() : null;
    }

    Outcome apply(Sender sender, Change.Start start, StartKey key) {
        List<Hints.Hint> hints = new ArrayList<>();
        Outcome outcome = context.database().inTransaction(connection -> {
            hints.clear();
            try {
                return new Transaction(connection, sender, start, key, hints).start();
            } catch (InsideException failed) {
                throw failed.problem();
            }
        });
        hints.forEach(context.hints()::tell);
        return outcome;
    }

    /** Lets runs begin that replaced others, which have ended. */
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

    /** Deletes keys that count no more. */
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
     * What a key names.
     *
     * @param at the time of this transaction
     * @param seed of the last start that was answered
     * @param until as in the table
     * @param lives whether that is still to come
     * @param run the run, or null if there is none
     * @param state its state
     * @param waits whether it waits for the end of its delay and has not begun
     * @param begun whether it, or one of its tasks, has begun
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
            boolean sameInput,
            @Nullable RunRef after) {
        boolean counts(StartKey.Until wanted) {
            return !state.isTerminal() && (wanted == StartKey.Until.ENDED || !begun);
        }
    }

    /** One start. */
    private final class Transaction {
        private final Connection connection;
        private final WriteContext inside;
        private final Sender sender;
        private final Change.Start start;
        private final NewRun run;
        private final StartKey key;
        private final List<Hints.Hint> hints;

        Transaction(Connection connection, Sender sender, Change.Start start, StartKey key, List<Hints.Hint> hints) {
            this.connection = connection;
            this.sender = sender;
            this.start = start;
            this.run = start.run();
            this.key = key;
            this.hints = hints;
            PostgresHints kept = new PostgresHints();
            kept.subscribe(hints::add);
            this.inside = context.inside(connection, kept);
        }

        Outcome start() throws SQLException {
            settings(connection);
            if (isThere()) {
                return apply(plain(start.owner()));
            }
            lock();
            Named named = named();
            RunRef holder = named.run();
            if (holder == null) {
                return begin(named, null);
            }
            Outcome existing = new Outcome.Existing(holder, run.definition(), named.sameInput());
            return switch (key) {
                case StartKey.IdempotencyKey idempotency ->
                    named.lives() ? given(holder, existing) : begin(named, null);
                case StartKey.Debounce debounce -> debounced(debounce, named, holder);
                case StartKey.Deduplication deduplication
                when !named.counts(deduplication.until()) -> begin(named, named.after());
                case StartKey.Deduplication deduplication ->
                    switch (deduplication.duplicate()) {
                        case ATTACH -> given(holder, existing);
                        case REFUSE -> given(holder, new Outcome.KeyTaken(holder));
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
        private Outcome given(RunRef holder, Outcome answer) {
            if (!run.admission().unanswered()) {
                return answer;
            }
            Outcome started = apply(plain(null));
            if (started instanceof Outcome.Started) {
                apply(new Change.Command(run.id(), Change.CommandKind.EXPIRE, Admission.given(key, holder.id())));
            }
            return started;
        }

        private Outcome replace(StartKey.Deduplication deduplication, Named named, RunRef holder) throws SQLException {
            String reason = Admission.replaced(key, run.id());
            RunRef before = named.after();
            if (!ended(holder, Change.CommandKind.EXPIRE, reason) && deduplication.until() == StartKey.Until.ENDED) {
                before = ended(holder, Change.CommandKind.CANCEL, reason) ? null : holder;
            }
            return begin(named, before);
        }

        /** Sends the holder of the key a command; says whether it has ended. */
        private boolean ended(RunRef holder, Change.CommandKind kind, String reason) {
            Outcome outcome = apply(new Change.Command(holder.id(), kind, reason));
            boolean ended = outcome instanceof Outcome.Commanded commanded
                    && commanded.state().isTerminal();
            if (ended) {
                hints.add(new Hints.RunEnded(holder.id()));
            }
            return ended;
        }

        private Outcome debounced(StartKey.Debounce debounce, Named named, RunRef holder) throws SQLException {
            boolean repeated = named.seed() == run.seed();
            if (!repeated && !(named.waits() && postponed(debounce, named, holder))) {
                return begin(named, null);
            }
            return given(holder, new Outcome.Existing(holder, run.definition(), true));
        }

        /** @param before the run that has to end first, or null */
        private Outcome begin(Named named, @Nullable RunRef before) throws SQLException {
            Outcome outcome = apply(plain(before == null ? start.owner() : null));
            if (outcome instanceof Outcome.Started started) {
                if (before != null) {
                    holdBack(started.run(), before);
                }
                name(started.run(), before, until(named.at()));
            }
            return outcome;
        }

        private @Nullable Instant until(Instant now) {
            return switch (key) {
                case StartKey.Deduplication deduplication -> null;
                case StartKey.IdempotencyKey idempotency ->
                    now.plus(Micros.of(idempotency.timeToLive()), ChronoUnit.MICROS);
                case StartKey.Debounce debounce -> now.plus(Micros.of(debounce.longestWait()), ChronoUnit.MICROS);
            };
        }

        // ---- statements

        private Parameters key(Parameters parameters) throws SQLException {
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

        private void lock() throws SQLException {
            try (PreparedStatement statement = Database.prepare(connection, sql.lock)) {
                key(new Parameters(statement)).time(context.database().time());
                statement.execute();
            }
        }

        private Named named() throws SQLException {
            try (PreparedStatement statement = Database.prepare(connection, sql.named)) {
                key(new Parameters(statement)
                        .bytes(run.input().bytes())
                        .time(context.database().time()));
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    RunState state = Codes.state(row.getInt("state"));
                    return new Named(
                            Results.time(row, "at"),
                            row.getLong("seed"),
                            Results.timeOrNull(row, "until"),
                            row.getBoolean("lives"),
                            ref(row, "key", "id"),
                            state,
                            state == RunState.SUSPENDED && row.getLong("epoch") == 0,
                            row.getBoolean("begun"),
                            row.getBoolean("same_input"),
                            ref(row, "after_key", "after_id"));
                }
            }
        }

        private static @Nullable RunRef ref(ResultSet row, String key, String id) throws SQLException {
            String found = row.getString(id);
            return found == null ? null : new RunRef(RunId.of(found), row.getLong(key));
        }

        private void name(RunRef named, @Nullable RunRef after, @Nullable Instant until) throws SQLException {
            Instant lookAt = key instanceof StartKey.IdempotencyKey ? until : null;
            try (PreparedStatement statement = Database.prepare(connection, sql.name)) {
                Parameters parameters = new Parameters(statement)
                        .number(named.key())
                        .object(after == null ? null : after.key())
                        .number(run.seed())
                        .time(until)
                        .time(lookAt);
                key(parameters);
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
                key(parameters);
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
