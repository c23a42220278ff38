package dev.perdure.postgres;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.shard.Balance;
import dev.perdure.postgres.shard.DividedLimits;
import dev.perdure.postgres.shard.LeftRows;
import dev.perdure.postgres.shard.MovingLock;
import dev.perdure.postgres.shard.NewShard;
import dev.perdure.postgres.shard.PartitionMove;
import dev.perdure.postgres.shard.ShardServer;
import dev.perdure.postgres.shard.ShardServer.Closed;
import dev.perdure.postgres.shard.ShardServer.Phase;
import dev.perdure.postgres.shard.ShardServer.State;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.spi.shard.Parts;
import dev.perdure.spi.shard.ShardMap;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The PostgreSQL servers among which a sharded store divides its runs, as an operator sees them: which has which partitions,
 * adding one, and moving partitions between them while engines run.
 *
 * <p>How it works. A partition moves in steps, each of which is one transaction on one server. The source refuses the
 * partition from then on; everything is copied to the target and compared; the commit that stores the new map at the target
 * decides; then the target opens the partition, all shards get the map, and the rows at the source are removed when no
 * process can still work by the old map. A command that is interrupted is given again and goes on where it stopped.
 *
 * <p>Not thread-safe. Of two processes that move partitions at the same time, the second is refused.
 */
public final class PostgresShards implements AutoCloseable {
    /** By how much the lease of a worker that has not learned of a move may outlive a lease from the move on, and some more. */
    private static final Duration MORE_THAN_A_LOOK = Parts.FRESH.plusSeconds(2);
    /** How long a move waits until each shard is within its shares. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    /** Between two looks at something that is about to change. */
    private static final Duration PAUSE = Duration.ofMillis(500);

    private final SortedMap<String, ShardServer> servers = new TreeMap<>();
    private final Schema schema;
    private final Duration grace;

    private PostgresShards(Map<String, ? extends DataSource> sources, String schema, Duration grace) {
        this.schema = new Schema(schema);
        this.grace = grace;
        try {
            sources.forEach((name, source) -> servers.put(name, new ShardServer(name, source, this.schema)));
        } catch (RuntimeException | Error failed) {
            close();
            throw failed;
        }
    }

    /**
     * The servers, by the names of the shards. Give all of them: a map is stored in each.
     *
     * @param schema the schema that the tables are in
     */
    public static PostgresShards of(Map<String, ? extends DataSource> sources, String schema) {
        return new PostgresShards(sources, schema, MORE_THAN_A_LOOK);
    }

    /** For tests without engines. */
    static PostgresShards of(Map<String, ? extends DataSource> sources, String schema, Duration grace) {
        return new PostgresShards(sources, schema, grace);
    }

    /**
     * A shard.
     *
     * @param name its name
     * @param version the version of the map that it has stored
     * @param partitions how many partitions it has by the newest map
     * @param workers how many live workers it has
     * @param leaving partitions that a move has closed here, and that are still here
     * @param arriving partitions that are on their way here, or have come and are not open yet
     * @param left partitions that have left, and whose rows are not removed yet
     */
    public record Info(
            String name,
            int version,
            int partitions,
            int workers,
            List<Integer> leaving,
            List<Integer> arriving,
            List<Integer> left) {}

    /** The shards, by name. */
    public List<Info> list() {
        SortedMap<String, State> states = states();
        ShardMap map = newest(states);
        return states.values().stream()
                .map(state -> new Info(
                        state.name(),
                        state.map().version(),
                        (int) map.partitionsOf(state.name()),
                        state.workers(),
                        in(state, Phase.LEAVING),
                        in(state, Phase.ARRIVING),
                        in(state, Phase.LEFT)))
                .toList();
    }

    /** The newest map. */
    public ShardMap map() {
        return newest(states());
    }

    private static List<Integer> in(State state, Phase phase) {
        return state.closed().entrySet().stream()
                .filter(closed -> closed.getValue().phase() == phase)
                .map(Map.Entry::getKey)
                .toList();
    }

    private SortedMap<String, State> states() {
        SortedMap<String, State> states = new TreeMap<>();
        servers.forEach((name, server) -> server.state().ifPresent(state -> {
            if (!state.name().equals(name)) {
                throw new InvalidRequestException(
                        "The database of shard '%s' is shard '%s' by its own record. Give each shard its own database."
                                .formatted(name, state.name()));
            }
            states.put(name, state);
        }));
        return states;
    }

    private static InvalidRequestException noShard() {
        return new InvalidRequestException(
                "None of the databases is a shard yet. Open them once with ShardedStore.over(…).");
    }

    private ShardMap newest(SortedMap<String, State> states) {
        ShardMap map = states.values().stream()
                .map(State::map)
                .max(Comparator.comparing(ShardMap::version))
                .orElseThrow(PostgresShards::noShard);
        List<String> missing = map.shards().stream()
                .filter(shard -> !states.containsKey(shard))
                .toList();
        if (!missing.isEmpty()) {
            throw new InvalidRequestException(
                    "The map of version %s has shards that were not given: %s. Give the databases of all shards."
                            .formatted(map.version(), missing));
        }
        return map;
    }

    /** Does something with all shards while no other command moves partitions. */
    private void alone(Runnable work) {
        newest(states());
        locked(work);
    }

    /** The same with the shards that are given. */
    @SuppressWarnings("try") // the lock only has to be there
    private void locked(Runnable work) {
        SortedMap<String, State> states = states();
        if (states.isEmpty()) {
            throw noShard();
        }
        try (MovingLock lock = MovingLock.on(known(states.firstKey()))) { // the first shard by name stays the first
            work.run();
        }
    }

    /** Makes an empty database a shard without partitions. Its schema has to be there. */
    public void add(String name) {
        alone(() -> addAlone(name));
    }

    private void addAlone(String name) {
        SortedMap<String, State> states = states();
        ShardMap map = newest(states);
        ShardServer server = Optional.ofNullable(servers.get(name))
                .orElseThrow(() -> new InvalidRequestException(
                        "No database is given for shard '%s'. Give it with the others.".formatted(name)));
        if (states.containsKey(name)) {
            throw new InvalidRequestException("The database of shard '%s' is a shard already.".formatted(name));
        }
        if (name.compareTo(states.firstKey()) < 0) {
            throw new InvalidRequestException(
                    "The name '%s' comes before '%s', and the first shard by name keeps large values and the secret of tokens. Choose a name that comes later."
                            .formatted(name, states.firstKey()));
        }
        ShardServer first = known(states.firstKey());
        NewShard.add(server, first, NewShard.nextNumber(first, highestNumber(states)), map);
    }

    private static int highestNumber(SortedMap<String, State> states) {
        return states.values().stream().mapToInt(State::number).max().orElseThrow();
    }

    /**
     * Moves partitions to a shard, one after the other. Their rows stay where they were until {@link #clean}, and so do the
     * indexes by which moves find rows. Before that, it ends every move that another command has begun and that is decided,
     * and gives up every other one. So a partition that a move has closed is given back if it is moved to where it is.
     *
     * @param progress gets a sentence about each step
     */
    public void move(Collection<Integer> partitions, String to, Consumer<String> progress) {
        known(to);
        for (int partition : partitions) {
            if (partition < 0 || partition >= Partitions.COUNT) {
                throw new InvalidRequestException("There is no partition %s. Partitions have numbers from 0 to %s."
                        .formatted(partition, Partitions.COUNT - 1));
            }
        }
        alone(() -> {
            ShardMap map = settled(progress);
            List<Integer> elsewhere = partitions.stream()
                    .filter(partition -> !map.owners().get(partition).equals(to))
                    .toList();
            moveAlone(map, Map.of(to, elsewhere), progress, refused -> {
                throw refused;
            });
        });
    }

    /**
     * Moves partitions, by the shard that gets them.
     *
     * @param staying gets the reason why a partition stays where it is for now
     * @return the partitions that stay
     */
    private List<Integer> moveAlone(
            ShardMap before,
            Map<String, List<Integer>> moves,
            Consumer<String> progress,
            Consumer<InvalidRequestException> staying) {
        List<Integer> left = new ArrayList<>();
        Set<String> concerned = new TreeSet<>();
        moves.forEach((to, partitions) -> partitions.forEach(
                partition -> concerned.addAll(List.of(to, before.owners().get(partition)))));
        if (!concerned.isEmpty()) {
            List<ShardServer> all = states().keySet().stream().map(this::known).toList();
            DividedLimits.requireDivided(all);
            awaitShares(all, progress);
        }
        try {
            concerned.forEach(shard -> PartitionMove.index(known(shard)));
            ShardMap map = before;
            for (Map.Entry<String, List<Integer>> toOne : moves.entrySet()) {
                ShardServer target = known(toOne.getKey());
                try (PostgresStore store = open(target)) {
                    store.resumeMoved(); // of commands that stopped before they did this
                    for (int partition : toOne.getValue()) {
                        try {
                            map = moved(map, partition, target, store, progress);
                        } catch (InvalidRequestException refused) {
                            if (refused.getSuppressed().length > 0) { // it could not be opened again
                                throw refused;
                            }
                            staying.accept(refused);
                            left.add(partition);
                        }
                    }
                }
            }
        } catch (RuntimeException | Error failed) {
            concerned.forEach(shard -> dropIndexes(known(shard), progress));
            throw failed;
        }
        return left;
    }

    /** Right after another move, it takes workers a moment to take its runs over, and until then these count as places. */
    private void awaitShares(List<ShardServer> all, Consumer<String> progress) {
        long until = System.nanoTime() + (grace.isZero() ? 0 : PATIENCE.toNanos());
        for (boolean told = false; ; told = true) {
            try {
                DividedLimits.requireWithinShares(all);
                return;
            } catch (InvalidRequestException refused) {
                if (System.nanoTime() - until >= 0) {
                    throw refused;
                }
                if (!told) {
                    progress.accept("Waiting at most %s: %s".formatted(PATIENCE, refused.getMessage()));
                }
                LockSupport.parkNanos(PAUSE.toNanos());
            }
        }
    }

    private PostgresStore open(ShardServer server) {
        return PostgresStore.on(server.source())
                .schema(schema.name())
                .migrate(false)
                .open();
    }

    /** A server that is out of reach keeps them, and must not hide why the command failed. */
    private static void dropIndexes(ShardServer server, Consumer<String> progress) {
        try {
            PartitionMove.dropIndexes(server);
        } catch (RuntimeException trouble) {
            progress.accept("The indexes moving_… of shard '%s' could not be dropped: %s"
                    .formatted(server.name(), trouble.getMessage()));
        }
    }

    /** What has arrived is open in any case. */
    private static void forgetArrived(ShardServer server, Consumer<String> progress) {
        try {
            PartitionMove.forgetArrived(server);
        } catch (RuntimeException trouble) {
            progress.accept("The constraint partition_is_here of shard '%s' goes on to ask what has arrived: %s"
                    .formatted(server.name(), trouble.getMessage()));
        }
    }

    private ShardServer known(String name) {
        ShardServer server = servers.get(name);
        if (server == null || server.state().isEmpty()) {
            throw new InvalidRequestException(
                    "'%s' is none of the shards %s. Add it first.".formatted(name, states().keySet()));
        }
        return server;
    }

    /** Moves one partition, and returns the map of then. */
    private ShardMap moved(
            ShardMap map, int partition, ShardServer target, PostgresStore store, Consumer<String> progress) {
        PartitionMove move = new PartitionMove(partition, known(map.owners().get(partition)), target, progress);
        removeEarlier(partition, target, progress);
        ShardMap after = map.with(partition, target.name());
        move.check();
        long began;
        long closed;
        long copied;
        try {
            move.expect();
            move.copyEnded();
            began = move.close();
            closed = System.nanoTime();
            move.copy(map, after);
            copied = System.nanoTime();
        } catch (RuntimeException | Error failed) {
            reopenUnlessMoved(move, failed);
            throw failed;
        }
        move.leave(after); // before: with an old map, the source would let processes believe that it has all runs of it
        move.open();
        store.resumeMoved();
        long opened = System.nanoTime();
        progress.accept("The runs of partition %s stood still for %s ms: %s to close it, %s to copy, %s to open it."
                .formatted(
                        partition,
                        millis(began, opened),
                        millis(began, closed),
                        millis(closed, copied),
                        millis(copied, opened)));
        tellAll(after);
        return after;
    }

    private static long millis(long from, long to) {
        return TimeUnit.NANOSECONDS.toMillis(to - from);
    }

    private static void reopenUnlessMoved(PartitionMove move, Throwable failed) {
        try {
            move.reopen();
        } catch (RuntimeException again) {
            failed.addSuppressed(again);
        }
    }

    /** Ends or gives up every move that another command has left behind, tells all shards the newest map, and returns it. */
    private ShardMap settled(Consumer<String> progress) {
        SortedMap<String, State> states = states();
        ShardMap map = newest(states);
        NewShard.rememberNumber(known(states.firstKey()), highestNumber(states));
        tellAll(map);
        Set<Integer> underWay = new TreeSet<>();
        states.values().forEach(state -> {
            underWay.addAll(in(state, Phase.LEAVING));
            underWay.addAll(in(state, Phase.ARRIVING));
        });
        Set<String> opened = new TreeSet<>();
        for (int partition : underWay) {
            settle(map, partition, states, progress);
            opened.add(map.owners().get(partition));
        }
        for (String shard : opened) {
            try (PostgresStore store = open(known(shard))) {
                store.resumeMoved();
            }
        }
        return map;
    }

    /** Opens a partition where the map says that it is, and lets the other shards know that it is not theirs. */
    private void settle(ShardMap map, int partition, SortedMap<String, State> states, Consumer<String> progress) {
        ShardServer owner = known(map.owners().get(partition));
        for (State state : states.values()) {
            @Nullable Closed closed = state.closed().get(partition);
            if (closed != null && !state.name().equals(owner.name())) {
                ShardServer other = known(state.name());
                if (closed.phase() == Phase.ARRIVING) {
                    new PartitionMove(partition, owner, other, progress).reopen();
                } else if (closed.phase() == Phase.LEAVING) {
                    new PartitionMove(partition, other, owner, progress).leave(map);
                }
            }
        }
        @Nullable Closed here = owner.state().orElseThrow().closed().get(partition);
        if (here != null) {
            if (here.phase() == Phase.LEAVING) {
                new PartitionMove(partition, owner, known(here.other()), progress).reopen();
            } else { // the server that it came from may be gone
                ShardServer other = servers.getOrDefault(here.other(), owner);
                new PartitionMove(partition, other, owner, progress).open();
                PartitionMove.forgetArrived(owner); // an older version has made a constraint that asks for nothing
            }
        }
    }

    private void tellAll(ShardMap map) {
        servers.values().forEach(server -> NewShard.tell(server, map));
    }

    /** A partition that comes back finds its earlier rows removed. */
    private void removeEarlier(int partition, ShardServer target, Consumer<String> progress) {
        @Nullable Closed closed = target.state().orElseThrow().closed().get(partition);
        if (closed != null && closed.phase() == Phase.LEFT) {
            LeftRows.remove(target, grace, progress);
        }
    }

    /**
     * Removes the rows of partitions that have left. Waits until no process can still read them by an old map: for the longest
     * lease of a worker, and a little more. Then it drops the indexes of moves, and constraints ask no more what has arrived. Shards whose servers are out of reach need not be
     * given: what is left there can be removed later.
     *
     * @param progress gets a sentence about each step
     */
    public void clean(Consumer<String> progress) {
        locked(() -> {
            try {
                servers.values().forEach(source -> LeftRows.remove(source, grace, progress));
            } finally {
                states().keySet().forEach(shard -> {
                    dropIndexes(known(shard), progress);
                    forgetArrived(known(shard), progress);
                });
            }
        });
    }

    /**
     * Moves as few partitions as possible, so that each shard has as many as the others, one more at most. A partition whose runs
     * hold places in a queue with limits stays where it is.
     *
     * @param without shards that are to have none, because their servers are to be switched off
     * @return the partitions that stay and have to be moved later
     */
    public List<Integer> balance(Collection<String> without, Consumer<String> progress) {
        without.forEach(this::known);
        List<String> having = states().keySet().stream()
                .filter(shard -> !without.contains(shard))
                .toList();
        if (having.isEmpty()) {
            throw new InvalidRequestException("No shard is left that could have the partitions. Name fewer of them.");
        }
        List<Integer> left = new ArrayList<>();
        alone(() -> {
            ShardMap map = settled(progress);
            left.addAll(moveAlone(
                    map, Balance.moves(map, having), progress, refused -> progress.accept(refused.getMessage())));
        });
        return left.stream().sorted().toList();
    }

    @Override
    public void close() {
        servers.values().forEach(ShardServer::close);
    }
}
