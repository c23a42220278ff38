package dev.perdure.torture.fault;

import dev.perdure.embedded.StopMode;
import dev.perdure.spi.shard.ShardMap;
import dev.perdure.torture.setup.ShardOperator;
import dev.perdure.torture.setup.ShardSite;
import dev.perdure.torture.setup.WorkerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;

/** What is done to several shards and their workers. One server at a time is down, and one command at a time moves partitions. */
public final class ShardFaults {
    /** For how long a server is down. */
    public static final Duration DOWN = Duration.ofSeconds(30);

    private static final int MOST_DOWN_MILLIS = 3_000;
    private static final int MOST_BEFORE_KILL_MILLIS = 2_000;
    private static final int TRIES = 5;
    /** What a process exits with that is killed with SIGKILL. */
    private static final int KILLED = 128 + 9;

    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final Duration BETWEEN_TRIES = Duration.ofSeconds(1);

    private final ReentrantLock servers = new ReentrantLock();
    private final ReentrantLock moves = new ReentrantLock();
    private final ShardSite site;
    private final List<Integer> partitions;

    /**
     * The faults of a site.
     *
     * @param partitions those that move
     */
    public ShardFaults(ShardSite site, List<Integer> partitions) {
        this.site = site;
        this.partitions = List.copyOf(partitions);
    }

    /** Kills a worker with SIGKILL; another one is started. */
    public String kill(Random chance) throws InterruptedException {
        WorkerProcess worker = site.workers().at(chance.nextInt(site.workers().count()));
        worker.kill();
        return "process %d".formatted(worker.pid());
    }

    /** Stops a server as in a crash, and starts it up to three seconds later. */
    public String restart(Random chance) {
        return down(chance.nextInt(ShardSite.NAMES.size()), Duration.ofMillis(chance.nextInt(MOST_DOWN_MILLIS)));
    }

    /** Stops any server as in a crash, for half a minute. */
    public String down(Random chance) {
        return down(chance.nextInt(ShardSite.NAMES.size()), DOWN);
    }

    /** Stops a server as in a crash, for so long. */
    public String down(int shard, Duration length) {
        servers.lock();
        try {
            site.server(shard).stop(StopMode.IMMEDIATE);
            LockSupport.parkNanos(length.toNanos());
            site.server(shard).restart();
            return "shard '%s' for %,d ms".formatted(ShardSite.NAMES.get(shard), length.toMillis());
        } finally {
            servers.unlock();
        }
    }

    /** Moves partitions, and gives the command again until it succeeds. */
    public String move(Random chance) throws Exception {
        return moved(partitions(chance));
    }

    /**
     * Moves partitions, kills the process that does it at any moment, and gives the command again. If the process has
     * ended before that moment, the partitions move once more, and it is killed in half the time.
     */
    public String cutMove(Random chance) throws Exception {
        List<Integer> going = partitions(chance);
        int millis = chance.nextInt(MOST_BEFORE_KILL_MILLIS);
        for (int i = 0; i < TRIES; i++) {
            Optional<String> seen = cutMove(going, Duration.ofMillis(millis));
            if (seen.isPresent()) {
                return seen.get();
            }
            millis /= 2;
        }
        throw new NoEffectException("each process had ended before it was to be killed");
    }

    private Optional<String> cutMove(List<Integer> going, Duration killedAfter) throws Exception {
        moves.lock();
        try {
            String to = target(going.getFirst());
            boolean killed = command(to, text(going), Optional.of(killedAfter)).code() == KILLED;
            String seen = moved(going, to);
            return killed ? Optional.of(seen + ", after a process that was killed") : Optional.empty();
        } finally {
            moves.unlock();
        }
    }

    /** Moves one partition. */
    public String move(int partition) throws Exception {
        return moved(List.of(partition));
    }

    private List<Integer> partitions(Random chance) {
        int first = partitions.get(chance.nextInt(partitions.size()));
        int second = partitions.get(chance.nextInt(partitions.size()));
        return first == second ? List.of(first) : List.of(first, second);
    }

    private String moved(List<Integer> going) throws Exception {
        moves.lock();
        try {
            return moved(going, target(going.getFirst()));
        } finally {
            moves.unlock();
        }
    }

    private String moved(List<Integer> going, String to) throws Exception {
        long begun = System.nanoTime();
        Ended ended = untilItSucceeds(to, text(going));
        String stoodStill = ended.said().stream()
                .filter(line -> line.contains("stood still"))
                .collect(Collectors.joining(" "));
        return "%s to shard '%s' in %,d ms; %s"
                .formatted(text(going), to, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun), stoodStill);
    }

    private static String text(List<Integer> partitions) {
        return partitions.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    /** The shard with the fewest of the partitions that move, apart from the one that has this partition. */
    private String target(int partition) throws InterruptedException {
        ShardMap map = map();
        return ShardSite.NAMES.stream()
                .filter(name -> !name.equals(map.owners().get(partition)))
                .min((one, other) -> Long.compare(share(map, one), share(map, other)))
                .orElseThrow();
    }

    private long share(ShardMap map, String shard) {
        return partitions.stream()
                .filter(partition -> map.owners().get(partition).equals(shard))
                .count();
    }

    /** The map; waits while a server is down. */
    public ShardMap map() throws InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try (ShardOperator operator = new ShardOperator(site.addresses())) {
                return operator.shards().map();
            } catch (RuntimeException down) {
                if (System.nanoTime() > end) {
                    throw down;
                }
                TimeUnit.NANOSECONDS.sleep(BETWEEN_TRIES.toNanos());
            }
        }
    }

    /** Ends all moves, and removes the rows of partitions that have left. */
    public void settle() throws Exception {
        moves.lock();
        try {
            ShardMap map = map();
            untilItSucceeds(map.owners().getFirst(), "0");
            untilItSucceeds(map.owners().getFirst(), "clean");
        } finally {
            moves.unlock();
        }
    }

    /** How a command ended, and what it said. */
    private record Ended(int code, List<String> said) {
        boolean succeeded() {
            return code == 0;
        }
    }

    private Ended untilItSucceeds(String to, String what) throws Exception {
        long end = System.nanoTime() + PATIENCE.toNanos();
        Ended ended = command(to, what, Optional.empty());
        while (!ended.succeeded()) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("The command that moves %s to shard '%s' does not succeed within %s."
                        .formatted(what, to, PATIENCE));
            }
            TimeUnit.NANOSECONDS.sleep(BETWEEN_TRIES.toNanos());
            ended = command(to, what, Optional.empty());
        }
        return ended;
    }

    private Ended command(String to, String what, Optional<Duration> killedAfter) throws Exception {
        List<String> arguments = new ArrayList<>(site.arguments());
        arguments.addAll(List.of(to, what));
        List<String> said = new ArrayList<>();
        try (WorkerProcess mover = site.process(Mover.class, arguments)) {
            try {
                mover.ready();
            } catch (IOException ended) {
                return new Ended(mover.exitCode(), said); // a server is down
            }
            if (killedAfter.isPresent()) {
                LockSupport.parkNanos(killedAfter.get().toNanos());
                mover.kill();
            }
            read(mover, said);
            return new Ended(mover.exitCode(), said);
        }
    }

    private static void read(WorkerProcess mover, List<String> said) {
        try {
            mover.says().forEach(said::add);
        } catch (UncheckedIOException killed) {
            // It says no more.
        }
    }
}
