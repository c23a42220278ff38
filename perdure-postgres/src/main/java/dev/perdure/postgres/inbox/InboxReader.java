package dev.perdure.postgres.inbox;

import dev.perdure.RunId;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.StoreException;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Database.RefusedException;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.report.EngineLog;
import dev.perdure.spi.shard.Exchange;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Applies the requests that callers made in their own transactions.
 *
 * <p>How it works: it marks some rows as taken, applies them through the ledger like all other changes, and deletes
 * them. The changes are idempotent, so a worker that dies in between does no harm: after a few seconds another worker
 * takes the rows again.
 *
 * <p>Order: the requests of one transaction for one run are applied in the order of their rows. A worker takes a row
 * only together with all earlier rows of the same run, or when those are done: workers take rows one after another, and
 * a row waits while an earlier one is marked. A worker whose marks have expired may still be at work beside the next
 * one. Each applies its rows in order, and a change that the other has applied has no effect.
 */
public final class InboxReader {
    private static final Logger LOG = EngineLog.of("dev.perdure.store");
    /** It remembers at most this many rows that were logged. */
    private static final int MOST_LEFT = 1_000;
    /** A log line names at most this many runs. */
    private static final int MOST_NAMED = 10;

    /** So many groups of requests may be on their way to one other shard at the same time. */
    private static final int MOST_ELSEWHERE = 8;

    private static final Lane CLIENT = Lane.client(0);

    /** Rows that this version cannot read and that were logged. */
    private final Set<Long> left = ConcurrentHashMap.newKeySet();

    private final Database database;
    private final Ledger ledger;
    private final InboxSql sql;
    private final Map<Integer, Semaphore> elsewhere = new ConcurrentHashMap<>();
    private volatile Exchange.@Nullable Route route;

    public InboxReader(Database database, Schema schema, Ledger ledger) {
        this.database = database;
        this.ledger = ledger;
        this.sql = new InboxSql(schema);
    }

    /**
     * A request.
     *
     * @param number its number in the inbox
     * @param change the change
     */
    record Asked(long number, Change change) {
        RunId run() {
            return switch (change) {
                case Change.Start start -> start.run().id();
                case Change.Command command -> command.run();
                case Change.Rerun rerun -> rerun.run();
                case Change.Retry retry -> retry.run();
                case Change.Retell retell -> retell.run();
                case Change.Fork fork -> fork.id();
                case Change.Repair repair -> repair.run();
                case Change.Reassign reassign -> reassign.run();
                case Change.Advance advance -> advance.run().id();
                case Change.CompletedCall completed -> completed.run().id();
                case Change.Deliver deliver -> deliver.to();
            };
        }
    }

    /** From now on, the runs of requests may be on other shards. */
    public void follow(Exchange.Route shards) {
        route = shards;
    }

    /** Applies some of the requests. Requests that cannot be applied now are applied later. */
    public void read() {
        Exchange.Route shards = route;
        try {
            List<Long> senseless = new ArrayList<>();
            List<Asked> taken = take(senseless);
            delete(senseless, Map.of());
            if (shards == null) {
                apply(ledger, taken);
            } else {
                apply(shards, taken);
            }
        } catch (StoreException later) {
            tryLater(later);
        } catch (RefusedException unreadable) { // of no single row, so nothing can be left out
            database.unreadable().leave("of the inbox", unreadable);
        }
    }

    private static void tryLater(StoreException trouble) {
        LOG.debug("Could not apply the requests in the inbox. They will be taken again.", trouble);
    }

    /**
     * Applies those of each shard by themselves. Those of other shards have threads of their own, so that a shard that does
     * not answer delays no others.
     */
    private void apply(Exchange.Route shards, List<Asked> taken) {
        Map<Integer, List<Asked>> byShard = new TreeMap<>();
        for (Asked asked : taken) {
            try {
                byShard.computeIfAbsent(shards.shard().applyAsInt(asked.run()), unseen -> new ArrayList<>())
                        .add(asked);
            } catch (StoreException elsewhere) { // on a shard that this process does not have
                tryLater(elsewhere);
            }
        }
        List<Asked> own = byShard.remove(shards.own());
        byShard.forEach((shard, asked) -> applyElsewhere(shards.ledger(), shard, asked));
        if (own != null) {
            apply(shards.ledger(), own);
        }
    }

    private void applyElsewhere(Ledger all, int shard, List<Asked> asked) {
        Semaphore free = elsewhere.computeIfAbsent(shard, unseen -> new Semaphore(MOST_ELSEWHERE));
        if (!free.tryAcquire()) {
            return; // the rows are taken again when their marks have expired
        }
        Thread.ofVirtual().name("perdure-inbox").start(() -> {
            try {
                apply(all, asked);
            } catch (StoreException later) {
                tryLater(later);
            } finally {
                free.release();
            }
        });
    }

    private void apply(Ledger all, List<Asked> taken) {
        List<Long> done = new ArrayList<>();
        Map<Long, RunId> early = new HashMap<>();
        InboxBatches batches = new InboxBatches(taken);
        for (List<Asked> batch = batches.next(); !batch.isEmpty(); batch = batches.next()) {
            List<Outcome> outcomes =
                    all.apply(CLIENT, batch.stream().map(Asked::change).toList());
            for (int i = 0; i < batch.size(); i++) {
                Asked asked = batch.get(i);
                Outcome outcome = outcomes.get(i) instanceof Outcome.Refused refused
                        ? insteadOfStart(all, asked, refused)
                        : outcomes.get(i);
                if (outcome instanceof Outcome.Moving) {
                    batches.answered(asked.run(), false); // what comes after it must not arrive before it
                    continue; // it is taken again when its mark has expired
                }
                boolean isThere = !(outcome instanceof Outcome.UnknownRun);
                batches.answered(asked.run(), isThere);
                done.add(asked.number());
                if (!isThere) {
                    early.put(asked.number(), asked.run());
                }
                report(asked, outcome);
            }
        }
        warnOfDropped(delete(done, early));
    }

    /** A start that the store refuses becomes a cancelled run, so that its id leads to the reason. */
    private static Outcome insteadOfStart(Ledger all, Asked asked, Outcome.Refused refused) {
        return asked.change() instanceof Change.Start start
                        && start.run().admission().refusal() == null
                ? all.apply(CLIENT, List.of(InboxColumns.refused(start.run(), refused.reason())))
                        .getFirst()
                : refused;
    }

    private static void report(Asked asked, Outcome outcome) {
        switch (outcome) {
            case Outcome.Started started
            when asked.change() instanceof Change.Start start
                    && start.run().admission().refusal() != null ->
                LOG.warn(
                        "Run '{}' is CANCELLED. {}",
                        asked.run(),
                        start.run().admission().refusal());
            case Outcome.Existing existing
            when asked.change() instanceof Change.Start(NewRun run, var owner, var mails, var tasks)
                    && !(existing.sameInput() && existing.definition().equals(run.definition())) ->
                LOG.warn(
                        "A caller's transaction requested a run '{}' of '{}', but a run of '{}' with another input has that id. Nothing was started.",
                        run.id(),
                        run.definition(),
                        existing.definition());
            case Outcome.Refused refused ->
                LOG.error(
                        "A request of a caller's transaction for run '{}' cannot be stored: {}. It is dropped.",
                        asked.run(),
                        refused.reason());
            case Outcome.Undelivered undelivered ->
                LOG.warn(
                        "Mail from a caller's transaction did not reach run '{}': {}.",
                        asked.run(),
                        switch (undelivered.why()) {
                            case ENDED -> "it has ended";
                            case TAKEN -> "another answer came first";
                            case BEGAN_ANEW -> "it has begun anew since, and no call waits for that answer";
                        });
            default -> {}
        }
    }

    /** Takes some rows, and marks invalid ones for deletion: only plain SQL can have inserted them. */
    private List<Asked> take(List<Long> senseless) {
        return database.call(connection -> {
            List<Asked> taken = new ArrayList<>();
            Map<Long, NewRun> parts = new HashMap<>();
            try (PreparedStatement statement = Database.prepare(connection, sql.take)) {
                statement.execute();
                Results results = new Results(statement);
                results.skip();
                ResultSet rows = results.next();
                while (rows.next()) {
                    long number = rows.getLong("number");
                    try {
                        Change change = read(rows);
                        taken.add(new Asked(number, change));
                        if (change instanceof Change.Start start
                                && rows.getInt("tasks") > 0
                                && start.run().admission().refusal() == null) {
                            parts.put(number, start.run());
                        }
                    } catch (InvalidRequestException senselessRow) {
                        LOG.error(
                                "Row {} of the inbox is invalid and is dropped: {}", number, senselessRow.getMessage());
                        senseless.add(number);
                    } catch (RuntimeException unknownCode) {
                        leave(number, unknownCode);
                    }
                }
            }
            taken.sort(Comparator.comparingLong(Asked::number));
            return parts.isEmpty() ? taken : withTasks(connection, taken, parts);
        });
    }

    private static Change read(ResultSet row) throws SQLException {
        try {
            return InboxColumns.read(row);
        } catch (InvalidRequestException senseless) {
            return InboxColumns.refused(row, senseless);
        }
    }

    /** A newer version of the library may have written the row, and a worker of that version may read it. */
    private void leave(long number, RuntimeException unknownCode) {
        if (left.size() < MOST_LEFT && left.add(number)) {
            LOG.error(
                    "Row {} of the inbox has a code that this version does not know. It stays for a worker that knows it. If there is none, update this one or delete the row.",
                    number,
                    unknownCode);
        }
    }

    private List<Asked> withTasks(Connection connection, List<Asked> taken, Map<Long, NewRun> parts)
            throws SQLException {
        Map<Long, String> refused = new HashMap<>();
        Map<Long, List<Task>> tasks;
        try (PreparedStatement statement = Database.prepare(connection, sql.tasksOf)) {
            new Parameters(statement).longs(parts.keySet().toArray(Long[]::new));
            try (ResultSet rows = statement.executeQuery()) {
                tasks = InboxTasks.read(rows, parts, refused);
            }
        }
        return taken.stream().map(asked -> withTasks(asked, tasks, refused)).toList();
    }

    private static Asked withTasks(Asked asked, Map<Long, List<Task>> tasks, Map<Long, String> refused) {
        if (!(asked.change() instanceof Change.Start start)) {
            return asked;
        }
        String why = refused.get(asked.number());
        if (why != null) {
            return new Asked(asked.number(), InboxColumns.refused(start.run(), why));
        }
        List<Task> ofStart = tasks.getOrDefault(asked.number(), List.of());
        return ofStart.isEmpty()
                ? asked
                : new Asked(asked.number(), new Change.Start(start.run(), null, List.of(), ofStart));
    }

    /** The runs of the rows that were dropped because their run does not exist. */
    private List<RunId> delete(List<Long> done, Map<Long, RunId> early) {
        if (done.isEmpty()) {
            return List.of();
        }
        return database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.done)) {
                new Parameters(statement)
                        .longs(done.toArray(Long[]::new))
                        .longs(early.keySet().toArray(Long[]::new));
                List<RunId> dropped = new ArrayList<>();
                try (ResultSet rows = statement.executeQuery()) {
                    while (rows.next()) {
                        dropped.add(Objects.requireNonNull(early.get(rows.getLong("number"))));
                    }
                }
                return dropped;
            }
        });
    }

    private static void warnOfDropped(List<RunId> dropped) {
        if (dropped.isEmpty()) {
            return;
        }
        Map<String, Long> counts =
                dropped.stream().collect(Collectors.groupingBy(RunId::value, TreeMap::new, Collectors.counting()));
        String named = counts.entrySet().stream()
                .limit(MOST_NAMED)
                .map(run -> "'%s' (%s)".formatted(run.getKey(), run.getValue()))
                .collect(Collectors.joining(", "));
        LOG.warn(
                "Dropped {} messages and commands from callers' transactions, because their runs did not exist a minute later: {}{}. Start a run before, or in, the transaction that addresses it.",
                dropped.size(),
                named,
                counts.size() > MOST_NAMED ? " and %s more runs".formatted(counts.size() - MOST_NAMED) : "");
    }
}
