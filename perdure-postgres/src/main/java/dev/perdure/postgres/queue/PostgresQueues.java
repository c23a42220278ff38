package dev.perdure.postgres.queue;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.postgres.jdbc.AuditText;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Json;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.jdbc.Text;
import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import dev.perdure.spi.Audit;
import dev.perdure.spi.QueueRules;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.FullKey;
import dev.perdure.spi.shard.WholeLimits;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The queues and their limits.
 *
 * <p>How it works: the process keeps in memory which queues have limits, because every start and every hand-over asks.
 * A poll reads the sum of the revisions of all queues, and reads the queues again if the sum has changed; a worker
 * polls at least once a second, and one of several shards at least every two seconds. A process that finds a queue with new limits makes the runs that already run there
 * count, and does so twice: the second time finds a start that was under way the first time.
 */
public final class PostgresQueues implements QueueRules {
    private static final int ADOPTIONS = 2;
    private static final long TIDY_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final Database database;
    private final QueueSql sql;
    private final AtomicReference<Known> known =
            new AtomicReference<>(new Known(0, Map.of(), Set.of(), Set.of(), Set.of(), Map.of()));
    private final AtomicLong tidiedTo = new AtomicLong();
    private final AtomicLong nextTidying = new AtomicLong(System.nanoTime() + TIDY_NANOS);

    /**
     * What this process knows.
     *
     * @param revision the sum of all revisions
     * @param limits the limits of all queues
     * @param limited the queues that have limits or an order of their own, or are paused
     * @param unreadable those of them whose settings this version cannot read: no run begins there
     * @param counted those of them whose runs get places when they are claimed, or are not claimed at all
     * @param adoptions how often the running runs of a queue still have to be counted
     */
    private record Known(
            long revision,
            Map<String, Queue> limits,
            Set<String> limited,
            Set<String> unreadable,
            Set<String> counted,
            Map<String, Integer> adoptions) {
        Known next(
                long now,
                Map<String, Queue> nowLimits,
                Set<String> nowLimited,
                Set<String> nowUnreadable,
                Set<String> nowCounted) {
            Map<String, Integer> left = new HashMap<>();
            for (String queue : nowCounted) {
                int before = counted.contains(queue) ? adoptions.getOrDefault(queue, 0) : ADOPTIONS;
                if (before > 0) {
                    left.put(queue, before);
                }
            }
            return new Known(
                    now,
                    Map.copyOf(nowLimits),
                    Set.copyOf(nowLimited),
                    Set.copyOf(nowUnreadable),
                    Set.copyOf(nowCounted),
                    Map.copyOf(left));
        }

        Known adopted() {
            Map<String, Integer> left = new HashMap<>();
            adoptions.forEach((queue, times) -> {
                if (times > 1) {
                    left.put(queue, times - 1);
                }
            });
            return new Known(revision, limits, limited, unreadable, counted, Map.copyOf(left));
        }
    }

    public PostgresQueues(Database database, Schema schema) {
        this.database = database;
        this.sql = new QueueSql(schema);
    }

    // ---- what this process knows

    @Override
    public boolean limits(String queue) {
        return known.get().limited().contains(queue);
    }

    @Override
    public Queue known(String queue) {
        Queue limits = known.get().limits().get(queue);
        return limits == null ? Queue.of(queue, Map.of()) : limits;
    }

    /** Whether the policy of a queue decides this start, as far as this process knows. */
    public boolean decides(Change.Start start) {
        return FullKey.decides(start) && known(start.run().queue()).decidesStarts();
    }

    /** The queues that have limits, or are paused. */
    public Set<String> limited() {
        return known.get().limited();
    }

    /** Whether runs may be claimed from the queue, as far as this process knows: its settings can be read. */
    public boolean isReadable(String queue) {
        return !known.get().unreadable().contains(queue);
    }

    /** Reads the queues again. Returns whether there is one more whose settings cannot be read. */
    public boolean findUnreadable() {
        Set<String> before = known.get().unreadable();
        refresh();
        return !before.containsAll(known.get().unreadable());
    }

    /** A poll has seen this sum of revisions. */
    public void saw(long revision) {
        if (known.get().revision() != revision) {
            refresh();
        } else if (!known.get().adoptions().isEmpty()) {
            adopt();
        }
    }

    /** Reads the queues again. */
    public void refresh() {
        Map<String, Queue> limits = new HashMap<>();
        Set<String> limited = new TreeSet<>();
        Set<String> unreadable = new TreeSet<>();
        Set<String> counted = new TreeSet<>();
        long revision = database.call(connection -> {
            long sum = 0;
            limited.clear();
            unreadable.clear();
            counted.clear();
            limits.clear();
            try (PreparedStatement statement = Database.prepare(connection, sql.rules);
                    ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    sum += rows.getLong("revision");
                    Queue queue = database.unreadable().read(rows, PostgresQueues::limits);
                    if (queue == null) {
                        limited.add(rows.getString("name"));
                        unreadable.add(rows.getString("name"));
                        continue;
                    }
                    limits.put(queue.name(), queue);
                    boolean paused = rows.getString("paused") != null;
                    if (paused || queue.hasLimits()) {
                        limited.add(queue.name());
                    }
                    if (paused || queue.ageing(Duration.ZERO).hasLimits()) {
                        counted.add(queue.name());
                    }
                }
            }
            return sum;
        });
        known.updateAndGet(last -> last.next(revision, limits, limited, unreadable, counted));
        adopt();
    }

    private void adopt() {
        Known now = known.get();
        if (now.adoptions().isEmpty()) {
            return;
        }
        update(
                sql.adopt,
                parameters -> parameters.texts(now.adoptions().keySet().toArray(String[]::new)));
        known.updateAndGet(Known::adopted);
    }

    private static Queue limits(ResultSet row) throws SQLException {
        return WholeLimits.of(declared(row).with(changed(row))).readable();
    }

    private static Queue declared(ResultSet row) throws SQLException {
        return Queue.of(row.getString("name"), Results.pairs(row, "declared"));
    }

    private static Queue changed(ResultSet row) throws SQLException {
        return Queue.of(row.getString("name"), Results.pairs(row, "changed"));
    }

    /** Deletes rows that no claim will read again, from time to time, if any queue is known. For the sweep. */
    public void tidy() {
        long due = nextTidying.get();
        if (known.get().revision() > 0
                && System.nanoTime() - due >= 0
                && nextTidying.compareAndSet(due, System.nanoTime() + TIDY_NANOS)) {
            tidyNow();
        }
    }

    /** The same at once. */
    void tidyNow() {
        long next = database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.tidySlots)) {
                new Parameters(statement).number(tidiedTo.get());
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    return row.getLong("next");
                }
            }
        });
        tidiedTo.set(next);
        update(sql.tidyTurns, parameters -> parameters.time(database.time()));
        update(sql.tidyRates, parameters -> parameters.time(database.time()));
    }

    // ---- what operators do

    private boolean update(String statement, Query.Binding binding) {
        return database.call(connection -> {
            try (PreparedStatement prepared = Database.prepare(connection, statement)) {
                binding.bind(new Parameters(prepared));
                try (ResultSet row = prepared.executeQuery()) {
                    row.next();
                    return row.getLong(1) > 0;
                }
            }
        });
    }

    @Override
    public void declare(Collection<Queue> queues) {
        if (!queues.isEmpty()) {
            @Nullable
            String[] settings =
                    queues.stream().map(queue -> Json.object(queue.settings())).toArray(String[]::new);
            update(
                    sql.declare,
                    parameters -> parameters
                            .texts(queues.stream().map(Queue::name).toArray(String[]::new))
                            .texts(settings));
        }
        refresh();
    }

    private boolean ordered(String statement, @Nullable Audit audit, @Nullable String... texts) {
        return update(statement, AuditText.order(audit, database.time(), texts));
    }

    @Override
    public boolean apply(Order order, @Nullable Audit audit) {
        boolean found = switch (order) {
            case Order.Limit(Queue changes) ->
                ordered(sql.limit, audit, Json.object(changes.settings()), changes.name());
            case Order.Pause(String queue, String reason) -> ordered(sql.pause, audit, Text.storable(reason), queue);
            case Order.Resume(String queue) -> ordered(sql.pause, audit, null, queue);
            case Order.Reset(String queue) -> ordered(sql.reset, audit, queue);
        };
        refresh();
        return found;
    }

    // ---- what there is

    @Override
    public List<QueueInfo> list() {
        return list(sql.list, parameters -> {});
    }

    @Override
    public Optional<QueueInfo> find(String queue) {
        return list(sql.find, parameters -> parameters.text(queue).text(queue)).stream()
                .findFirst();
    }

    private List<QueueInfo> list(String query, Query.Binding which) {
        return database.call(connection -> {
            try (PreparedStatement statement = Database.planAnew(connection, query)) {
                Parameters parameters = new Parameters(statement);
                which.bind(parameters);
                parameters.time(database.time());
                try (ResultSet rows = statement.executeQuery()) {
                    List<QueueInfo> queues = new ArrayList<>();
                    while (rows.next()) {
                        queues.add(info(rows));
                    }
                    return queues;
                }
            }
        });
    }

    /** Limits that cannot be read are left out, and stand where it says why no run begins. */
    private static QueueInfo info(ResultSet row) throws SQLException {
        Optional<String> paused = Optional.ofNullable(row.getString("paused"));
        try {
            limits(row);
            return new QueueInfo(declared(row), changed(row), paused, load(row), row.getBoolean("known"));
        } catch (InvalidRequestException unreadable) {
            Queue none = Queue.of(row.getString("name"), Map.of());
            return new QueueInfo(
                    none,
                    none,
                    Optional.of(paused.orElse("No run begins. " + unreadable.getMessage())),
                    load(row),
                    row.getBoolean("known"));
        }
    }

    @Override
    public List<QueueInfo.Key> keys(String queue, int most) {
        return database.call(connection -> {
            try (PreparedStatement statement = Database.planAnew(connection, sql.keys)) {
                new Parameters(statement).time(database.time()).text(queue).integer(most);
                try (ResultSet rows = statement.executeQuery()) {
                    List<QueueInfo.Key> keys = new ArrayList<>();
                    while (rows.next()) {
                        keys.add(new QueueInfo.Key(rows.getString("queue_key"), load(rows)));
                    }
                    return keys;
                }
            }
        });
    }

    private static QueueInfo.Load load(ResultSet row) throws SQLException {
        return new QueueInfo.Load(
                row.getLong("waiting"),
                Optional.ofNullable(Results.timeOrNull(row, "oldest")),
                row.getLong("begun"),
                row.getLong("at_work"),
                row.getLong("last_minute"));
    }
}
