package dev.perdure.simulation.scene;

import dev.perdure.Perdure;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.dag.Dag;
import dev.perdure.dag.TaskContext;
import dev.perdure.error.KeyFullException;
import dev.perdure.error.TerminalException;
import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import dev.perdure.spi.Runs;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Queues with limits, what they do with starts whose key is full, and runs that have to begin in time. */
public final class Limits implements Scene {
    private static final String QUEUE = "narrow";
    private static final String MAP = "mapped";
    private static final Duration IN_TIME = Duration.ofSeconds(2);

    private final Cast cast;
    private final Queue queue;
    private final int count;
    private final boolean maps;
    private final Set<String> inside = new TreeSet<>();
    private final Set<String> ran = new TreeSet<>();
    private final Set<String> refused = new TreeSet<>();

    /** For one history. */
    public Limits(Cast cast) {
        this.cast = cast;
        this.count = (int) cast.choices().between(3, 7);
        Queue limited = Queue.named(QUEUE).concurrency((int) cast.choices().between(1, 2));
        limited = cast.choices().oneIn(2) ? limited.perKey(1) : limited;
        limited = cast.choices().oneIn(3) ? limited.counting(Queue.Counting.AT_WORK) : limited;
        limited = cast.choices().oneIn(3) ? limited.rate(2, Duration.ofSeconds(3)) : limited;
        limited = cast.choices().oneIn(2) ? limited.whenKeyFull(policy(cast)) : limited;
        limited = cast.choices().oneIn(3) ? limited.turns("key-0", 3) : limited;
        limited = cast.choices().oneIn(3) ? limited.ageing(Duration.ofMillis(10)) : limited;
        this.queue = limited;
        this.maps = cast.choices().oneIn(2);
    }

    /** A body for each item, and one that is told that the last has failed. */
    private final Dag<Integer, List<Integer>> map = Dag.of(MAP, Integer.class, tasks -> {
        var numbers = tasks.task("numbers", Limits::numbers);
        tasks.onFailure(task -> {});
        return tasks.forEach(numbers).workflow("each", (ctx, task, number) -> {
            ctx.step("one", () -> body(ctx.runId().value()));
            if (number == 2) {
                throw new TerminalException("The last item fails.");
            }
            return number;
        });
    });

    private static List<Integer> numbers(TaskContext<Integer> task) {
        return List.of(0, 1, 2);
    }

    private static Queue.WhenKeyFull policy(Cast cast) {
        Queue.WhenKeyFull[] policies = Queue.WhenKeyFull.values();
        return policies[(int) cast.choices().between(0, policies.length - 1)];
    }

    /** The workflow. */
    public static final class Code {
        private final Limits scene;

        Code(Limits scene) {
            this.scene = scene;
        }

        /** Two steps with a sleep between them. */
        @Workflow("limited")
        public int work(WorkflowContext ctx, int number) {
            String id = ctx.runId().value();
            ctx.step("one", () -> scene.body(id));
            ctx.sleep(Duration.ofMillis(5));
            ctx.step("two", () -> scene.body(id));
            return number;
        }
    }

    private static String key(String id) {
        return "key-" + id.charAt(id.length() - 1) % 2;
    }

    /** A body of a worker that has lost its run does not count, so only runs that the store has as running do. */
    private void body(String id) {
        ran.add(id);
        inside.add(id);
        try {
            checkLimits();
            cast.pause();
            checkLimits();
        } finally {
            inside.remove(id);
        }
    }

    private void checkLimits() {
        TreeMap<String, Integer> keys = new TreeMap<>();
        int running = 0;
        for (String id : inside) {
            if (isRunning(id)) {
                running++;
                if (!id.startsWith(MAP)) {
                    keys.merge(key(id), 1, Integer::sum);
                }
            }
        }
        int bodies = running;
        check(bodies <= most(), () -> "%s bodies run in the queue, of %s.".formatted(bodies, inside));
        check(
                queue.perKey().isEmpty() || keys.values().stream().allMatch(each -> each <= 1),
                () -> "Bodies run in the queue by key: " + keys);
        load().ifPresent(load -> {
            long counted = queue.counting() == Queue.Counting.BEGUN ? load.begun() : load.atWork();
            long idle = Stream.of(MAP, MAP + "/each").filter(this::isRunning).count(); // they take no place
            check(counted - idle <= most(), () -> "The store has %s runs of the queue that count.".formatted(counted));
        });
    }

    private boolean isRunning(String id) {
        return cast.info(id).filter(info -> info.state() == RunState.RUNNING).isPresent();
    }

    private void check(boolean holds, Supplier<String> what) {
        if (!holds) {
            cast.fail(what.get() + " Its limits are " + queue + ".");
        }
    }

    private int most() {
        return queue.concurrency().orElse(Queue.UNLIMITED);
    }

    private Optional<QueueInfo.Load> load() {
        return cast.store().queues().find(QUEUE).map(QueueInfo::load);
    }

    private static String id(int i) {
        return "limited-" + i;
    }

    private static boolean isUrgent(int i) {
        return i % 3 == 2;
    }

    @Override
    public void register() {
        cast.register(new Code(this));
        cast.register(map);
        cast.declare(queue);
    }

    @Override
    public void play() {
        if (maps) {
            cast.call(perdure -> perdure.start(map, 0, StartOptions.id(MAP).queue(QUEUE)));
        }
        for (int i = 0; i < count; i++) {
            StartOptions options = StartOptions.id(id(i)).queue(QUEUE).key(key(id(i)));
            int number = i;
            cast.call(perdure -> start(perdure, number, isUrgent(number) ? options.startWithin(IN_TIME) : options));
            if (cast.choices().oneIn(2)) {
                cast.pauseUpTo(Duration.ofMillis(20));
            }
        }
    }

    /** A caller that dies before its answer calls again, and the second answer may be another one. */
    private void start(Perdure perdure, int number, StartOptions options) {
        try {
            perdure.start(Code::work, number, options);
            refused.remove(id(number));
        } catch (KeyFullException full) {
            refused.add(id(number));
        }
    }

    @Override
    public void check() {
        load().ifPresent(load -> Cast.must(
                load.begun() == 0 && load.atWork() == 0 && load.waiting() == 0, "Places are left taken: %s", load));
        List<Instant> begun = new ArrayList<>();
        checkPolicy();
        Cast.must(
                !maps
                        || cast.isKilled(MAP)
                        || cast.info(MAP).orElseThrow().state().isTerminal(),
                "The DAG with a task for each item is %s.",
                cast.info(MAP));
        for (int i = 0; i < count; i++) {
            if (refused.contains(id(i))) {
                continue;
            }
            List<Runs.Entered> history = cast.history(id(i));
            Optional<Instant> began = history.stream()
                    .filter(entered -> entered.state() == RunState.RUNNING)
                    .map(Runs.Entered::at)
                    .findFirst();
            began.ifPresent(begun::add);
            Cast.must(began.isPresent() || !ran.contains(id(i)), "%s never began, and a body of it ran.", id(i));
            if (isUrgent(i)) {
                Instant latest = history.getFirst().at().plus(IN_TIME);
                Cast.must(
                        began.isEmpty() || !began.get().isAfter(latest),
                        "%s began at %s, and it had to begin by %s.",
                        id(i),
                        began,
                        latest);
            } else {
                Cast.must(
                        cast.completed(id(i)) || cast.info(id(i)).orElseThrow().state() == RunState.CANCELLED,
                        "%s is %s.",
                        id(i),
                        cast.info(id(i)));
            }
        }
        queue.rate().ifPresent(rate -> checkRate(begun, rate));
    }

    /**
     * Nothing of a refused run is there, nothing of a dropped one ran, and the newest run of a key gives way to none.
     */
    private void checkPolicy() {
        Cast.must(
                refused.isEmpty() || queue.whenKeyFull() == Queue.WhenKeyFull.REFUSE,
                "%s were refused by %s.",
                refused,
                queue);
        Set<String> newest = new TreeSet<>();
        for (int i = count - 1; i >= 0; i--) {
            String id = id(i);
            if (refused.contains(id)) {
                Cast.must(cast.info(id).isEmpty() && !ran.contains(id), "%s was refused, and it is there.", id);
                continue;
            }
            String reason = cast.info(id).flatMap(RunInfo::reason).orElse("");
            Cast.must(
                    !reason.startsWith("Dropped.")
                            || (queue.whenKeyFull() == Queue.WhenKeyFull.DROP_NEWEST && !ran.contains(id)),
                    "%s was dropped and ran: %s.",
                    id,
                    queue);
            Cast.must(
                    !reason.startsWith("Cancelled in favour")
                            || (queue.whenKeyFull() == Queue.WhenKeyFull.CANCEL_OLDEST && newest.contains(key(id))),
                    "%s gave way, and no newer run has its key: %s.",
                    id,
                    reason);
            newest.add(key(id));
        }
    }

    private static void checkRate(List<Instant> begun, Queue.Rate rate) {
        for (Instant end : begun) {
            long within = begun.stream()
                    .filter(at -> !at.isAfter(end) && at.isAfter(end.minus(rate.period())))
                    .count();
            Cast.must(within <= rate.most(), "%s runs began within %s of %s.", within, rate.period(), end);
        }
    }
}
