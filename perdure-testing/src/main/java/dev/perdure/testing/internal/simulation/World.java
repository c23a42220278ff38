package dev.perdure.testing.internal.simulation;

import dev.perdure.Perdure;
import dev.perdure.RetryPolicy;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.audit.Operator;
import dev.perdure.error.ClosedException;
import dev.perdure.error.StoreException;
import dev.perdure.internal.definition.StepTypes;
import dev.perdure.internal.engine.Engine;
import dev.perdure.internal.interception.Interceptors;
import dev.perdure.internal.json.JsonCodec;
import dev.perdure.internal.payload.PayloadCodec;
import dev.perdure.internal.settings.ExecutionRules;
import dev.perdure.internal.settings.Settings;
import dev.perdure.internal.time.Waiting;
import dev.perdure.memory.MemoryStore;
import dev.perdure.queue.Queue;
import dev.perdure.retention.Retention;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Codec;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.measure.Measurements;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** All processes of one history: a few workers, the process of the test, and their store. */
public final class World {
    /**
     * Short, because leases, polls and repairs are most of what a history does. Everything that takes long in a history
     * is a multiple of it, so a fault lasts as long for the engine as with a longer one.
     */
    static final Duration LEASE = Duration.ofSeconds(2);

    private static final Operator OPERATOR = Operator.named("test");
    private static final long MOST_DOWN = leases(1.5);
    /** How the engine names the threads of runs. */
    private static final String RUN_THREAD = "perdure-run-";

    private static final int USUAL_INLINE_BYTES = 1024 * 1024;
    /** So few that most values are kept apart from their rows. */
    private static final int FEW_INLINE_BYTES = 30;

    private static final long IN_BODY = Duration.ofMillis(20).toNanos();

    /** What all histories of a test share, because it is costly to make and holds nothing of a history. */
    public static final class Shared {
        private final JsonCodec codec = new JsonCodec();
        private final StepTypes stepTypes = new StepTypes(codec);
        private final UnaryOperator<Store> store;
        private final UnaryOperator<Store> seen;

        private Shared(UnaryOperator<Store> store, UnaryOperator<Store> seen) {
            this.store = store;
            this.seen = seen;
        }

        /**
         * With a wrapper around stores, for instance a defect.
         *
         * @param store wraps the store of every history
         * @param seen wraps the store as each process sees it, across the network
         */
        public static Shared with(UnaryOperator<Store> store, UnaryOperator<Store> seen) {
            return new Shared(store, seen);
        }

        /** With unchanged stores. */
        public static Shared plain() {
            return with(UnaryOperator.identity(), UnaryOperator.identity());
        }
    }

    /**
     * A fault that hit a commit, or was there when it was made.
     *
     * @param fault the fault
     * @param changes the changes of the commit
     */
    public record Hit(Fault fault, List<Change> changes) {}

    /** So many leases, in nanoseconds. */
    static long leases(double count) {
        return (long) (LEASE.toNanos() * count);
    }

    private final Shared shared;
    private final Scheduler scheduler;
    private final Choices choices;
    private final Network network = new Network();
    private final Store store;
    private final List<SimulatedProcess> processes = new ArrayList<>();
    private final List<Object> registrations = new ArrayList<>();
    private final List<Queue> queues = new ArrayList<>();
    private final SimulatedProcess home;
    private final Duration warmWindow;
    private final boolean unloadAfterSteps;
    private final int maxRuns;
    private Retention retention = Retention.of(Retention.FOREVER);
    private RetryPolicy retry = RetryPolicy.standard();
    private Codec codec;
    private int versions;
    private int inlineBytes = USUAL_INLINE_BYTES;
    private @Nullable Perdure client;
    private int workers;
    private int callers;

    World(Shared shared, Scheduler scheduler) {
        this.shared = shared;
        this.codec = shared.codec;
        this.scheduler = scheduler;
        this.choices = scheduler.choices();
        this.home = process("test", false);
        SimulatedProcess server = process("store", false);
        this.store = shared.store.apply(
                choices.seed() % 2 == 0 ? new PostgresModel(server, scheduler) : new MemoryStore(server));
        this.warmWindow = choices.oneIn(2) ? Duration.ZERO : Duration.ofSeconds(1);
        this.unloadAfterSteps = choices.oneIn(8);
        this.maxRuns = choices.oneIn(4) ? 2 : 1_000;
        scheduler.idle(Duration.ofSeconds(1).toNanos());
        scheduler.situation(this::situation);
    }

    private SimulatedProcess process(String name, boolean mayBeWrong) {
        SimulatedProcess process = new SimulatedProcess(name, scheduler, choices, mayBeWrong);
        processes.add(process);
        return process;
    }

    SimulatedProcess home() {
        return home;
    }

    List<SimulatedProcess> processes() {
        return List.copyOf(processes);
    }

    // ---- what a test does

    /** Registers workflows, before the first use of the client. */
    public void register(Object... more) {
        if (client != null) {
            throw new IllegalStateException("The engines are already running. Register before you use the client.");
        }
        registrations.addAll(List.of(more));
    }

    /** Declares a queue, before the first use of the client. Workers take runs from it. */
    public void declare(Queue queue) {
        queues.add(queue);
    }

    /** How long runs are kept after their end, before the first use of the client. */
    public void retention(Retention declared) {
        retention = declared;
    }

    /** The retry policy of steps that set none of their own. */
    public void retry(RetryPolicy policy) {
        retry = policy;
    }

    /** Puts something in front of the codec, before the first use of the client. */
    public void codec(UnaryOperator<Codec> front) {
        codec = front.apply(codec);
    }

    /** Gives the workers so many versions, before the first use of the client. The first one always has a worker. */
    public void versions(int count) {
        versions = count;
    }

    /** Keeps values apart from their rows that usually are in them, before the first use of the client. */
    public void keepApart() {
        inlineBytes = FEW_INLINE_BYTES;
    }

    /** The engine of the test's own process, which cannot die. The first use starts the workers too. */
    public Perdure client() {
        Perdure present = client;
        if (present == null) {
            // One in three tests runs workflows in its own process, too.
            present = boot(home, choices.oneIn(3) ? new Role(version(0)) : null, null);
            client = present;
            int count = (int) choices.between(1, 3);
            for (int i = 0; i < count; i++) {
                startWorker(version(i));
            }
        }
        return present;
    }

    /** The store itself, for questions without faults. */
    public Store store() {
        return store;
    }

    /** All random choices. */
    public Choices choices() {
        return choices;
    }

    /** The faults that hit commits. */
    public List<Hit> hits() {
        return network.hits();
    }

    /** From now on no fault happens. */
    public void calm() {
        choices.quiet();
        note("(no more faults)");
    }

    /** The true time. */
    public Instant now() {
        return scheduler.outside().now();
    }

    /** The true time of housekeeping, which does not skip. */
    public long nanoTime() {
        return scheduler.now();
    }

    /** Adds a line to the timeline. */
    public void note(String text) {
        scheduler.timeline().add(scheduler, scheduler.process().name(), () -> text);
    }

    /** Lets other code run. The process of the caller may die or stand still in the meantime. */
    public void pause(Duration time) throws InterruptedException {
        SimulatedProcess process = scheduler.process();
        if (process != home && choices.happens(Fault.KILLED_IN_BODY)) {
            note("*** " + Fault.KILLED_IN_BODY.words());
            scheduler.trouble();
            scheduler.kill(process);
        }
        long nanos = time.isZero() ? choices.between(1, IN_BODY) : time.toNanos();
        scheduler.busily(process.signal(), nanos);
    }

    /** The process of the caller. */
    public SimulatedProcess here() {
        return scheduler.process();
    }

    /** The run whose own thread calls this; empty in any other thread. */
    public Optional<RunId> runHere() {
        String thread = scheduler.waiter().name;
        return thread.startsWith(RUN_THREAD)
                ? Optional.of(RunId.of(thread.substring(RUN_THREAD.length())))
                : Optional.empty();
    }

    /** Whether the process lives that joined as this worker. */
    public boolean lives(WorkerId worker) {
        return network.processOf(worker).map(process -> !process.isDead()).orElse(false);
    }

    /** Waits for something to happen, for this long. Timers of workflows may fire earlier. */
    public void idle(Duration time) {
        Waiting.housekeeping(home.signal(), time.toNanos());
    }

    /** Waits until the network has delivered all calls that it delivers late. */
    public void awaitLateCalls() {
        while (network.lateCalls() > 0) {
            idle(LEASE);
        }
    }

    /** Runs these at once, in the process of the caller, and returns when all have ended. */
    public void together(List<Runnable> all) {
        SimulatedProcess here = scheduler.process();
        Clockwork.Signal done = here.signal();
        int[] open = {all.size()};
        Throwable[] failed = new Throwable[1];
        for (int i = 0; i < all.size(); i++) {
            Runnable code = all.get(i);
            scheduler.fork(here, "test-" + (i + 1), () -> {
                try {
                    code.run();
                } catch (Killed end) {
                    throw end;
                } catch (Throwable thrown) {
                    failed[0] = failed[0] == null ? thrown : failed[0];
                }
                open[0]--;
                done.raise();
            });
        }
        while (open[0] > 0) {
            Waiting.forSignal(done);
        }
        switch (failed[0]) {
            case null -> {}
            case RuntimeException thrown -> throw thrown;
            case Error thrown -> throw thrown;
            default -> throw new IllegalStateException(failed[0]);
        }
    }

    /**
     * Runs this in a process of its own, and returns when it has been carried out to its end. If the process dies or
     * closes, another one begins from the start: a caller that asks again, because it got no answer.
     *
     * @param worker whether the process also runs workflows
     */
    public void caller(boolean worker, Consumer<Perdure> code) {
        Clockwork.Signal done = home.signal();
        boolean[] ended = new boolean[1];
        startCaller(worker, code, () -> {
            ended[0] = true;
            done.raise();
        });
        while (!ended[0]) {
            Waiting.forSignal(done);
        }
    }

    private void startCaller(boolean worker, Consumer<Perdure> code, Runnable done) {
        callers++;
        SimulatedProcess process = process("caller-" + callers, true);
        boolean[] ended = new boolean[1];
        Runnable again = () -> {
            if (!ended[0] && !scheduler.isOver()) {
                scheduler.fork(scheduler.outside(), "restart", () -> {
                    scheduler.pause(choices.between(1, MOST_DOWN));
                    startCaller(worker, code, done);
                });
            }
        };
        scheduler.fork(process, "caller", () -> {
            Engine engine = boot(process, worker ? new Role(version(0)) : null, again);
            try {
                untilAnswered(() -> code.accept(engine));
            } catch (ClosedException closed) {
                return; // the process is about to end
            }
            ended[0] = true;
            done.run();
            engine.close();
            scheduler.kill(process);
        });
    }

    /** A question from outside of a run fails while the store is out of reach, and then the caller asks again. */
    private void untilAnswered(Runnable code) {
        while (true) {
            try {
                code.run();
                return;
            } catch (StoreException outOfReach) {
                scheduler.pause(Duration.ofSeconds(1).toNanos());
            }
        }
    }

    // ---- processes

    /**
     * That a process runs workflows.
     *
     * @param version its version, or null
     */
    private record Role(@Nullable String version) {}

    private @Nullable String version(int worker) {
        return versions == 0 ? null : "v" + (worker % versions + 1);
    }

    private Settings settings(SimulatedProcess process, Store seen, @Nullable Role worker) {
        PayloadCodec payloads = PayloadCodec.of(codec, seen.payloads(), inlineBytes, process);
        ExecutionRules rules = new ExecutionRules(
                payloads,
                shared.stepTypes,
                retry,
                warmWindow,
                4 * 1024 * 1024,
                Interceptors.NONE,
                Measurements.NONE,
                unloadAfterSteps);
        Set<String> names = new TreeSet<>(Set.of(StartOptions.DEFAULT_QUEUE));
        queues.forEach(queue -> names.add(queue.name()));
        return new Settings(
                seen,
                process,
                registrations,
                List.of(),
                rules,
                queues,
                List.of(),
                List.of(),
                retention,
                OPERATOR,
                worker == null
                        ? null
                        : new Settings.WorkerRules(
                                names,
                                worker.version(),
                                LEASE,
                                maxRuns,
                                Duration.ofNanos(leases(0.5)),
                                Map.of(),
                                () -> {}));
    }

    /**
     * Starts the engine of a process, in a thread of that process.
     *
     * @param worker null if it runs no workflows
     * @param afterDeath called when it has died, or null if it cannot
     */
    private Engine boot(SimulatedProcess process, @Nullable Role worker, @Nullable Runnable afterDeath) {
        Engine[] engine = new Engine[1];
        boolean[] closing = new boolean[1];
        process.lastWord(() -> {
            if (!scheduler.isOver()) {
                scheduler.timeline().add(scheduler, process.name(), () -> "is dead");
            }
            if (engine[0] != null) {
                engine[0].crash();
            }
            if (!scheduler.isOver() && choices.oneIn(2)) {
                closeConnections(process);
            }
            if (afterDeath != null) {
                afterDeath.run();
            }
        });
        Store network = new SimulatedStore(store, process, scheduler, this.network, new FaultyCalls.Deaths() {
            @Override
            public boolean mayDie() {
                return afterDeath != null;
            }

            @Override
            public void close() {
                if (engine[0] != null && !closing[0]) {
                    closing[0] = true;
                    scheduler.fork(process, "close", () -> {
                        engine[0].close();
                        scheduler.kill(process);
                    });
                }
            }
        });
        Store seen = shared.seen.apply(network);
        while (true) {
            try {
                engine[0] = Engine.start(settings(process, seen, worker));
                return engine[0];
            } catch (StoreException outOfReach) {
                scheduler.pause(Duration.ofSeconds(1).toNanos());
            }
        }
    }

    /** The store notices that the process has died, before its lease ends. */
    private void closeConnections(SimulatedProcess process) {
        scheduler.fork(scheduler.outside(), "look after " + process.name(), () -> {
            scheduler.pause(choices.between(1, leases(0.5)));
            network.workersOf(process).forEach(store.leases()::leave);
        });
    }

    private void startWorker(@Nullable String version) {
        workers++;
        scheduler.trouble();
        SimulatedProcess process = process("worker-" + workers, true);
        scheduler.fork(process, "boot", () -> boot(process, new Role(version), () -> replace(version)));
    }

    private void replace(@Nullable String version) {
        scheduler.fork(scheduler.outside(), "restart", () -> {
            scheduler.pause(choices.between(1, MOST_DOWN));
            startWorker(version);
        });
    }

    private String situation() {
        return "Runs that have not ended: "
                + store.runs().list(RunFilter.all()).stream()
                        .filter(run -> !run.state().isTerminal())
                        .map(run -> "%s (%s) is %s%s"
                                .formatted(
                                        run.id(),
                                        run.definition(),
                                        run.state(),
                                        run.reason()
                                                .map(reason -> " because: " + reason)
                                                .orElse("")))
                        .collect(Collectors.joining("; ", "[", "]"));
    }
}
