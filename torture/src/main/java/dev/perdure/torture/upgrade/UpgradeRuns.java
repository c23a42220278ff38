package dev.perdure.torture.upgrade;

import static java.util.Map.entry;

import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.error.UnknownRunException;
import dev.perdure.retention.Retention;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;

/** Runs in every state, begun by one version and ended by another. */
public final class UpgradeRuns {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration BETWEEN = Duration.ofMillis(100);
    private static final String KEY = "key";
    private static final int MANY = 1_000;

    /** In which state each is when the older version ends. */
    private static final Map<String, RunState> STATES = Map.ofEntries(
            entry("completed", RunState.COMPLETED),
            entry("failed", RunState.FAILED),
            entry("cancelled", RunState.CANCELLED),
            entry("napping", RunState.SUSPENDED),
            entry("waiting", RunState.SUSPENDED),
            entry("asking", RunState.SUSPENDED),
            entry("parent", RunState.SUSPENDED),
            entry("paused", RunState.PAUSED),
            entry("backing-off", RunState.BACKING_OFF),
            entry("holding", RunState.RUNNING),
            entry("limited-1", RunState.RUNNING),
            entry("narrow-1", RunState.RUNNING),
            entry("narrow-2", RunState.READY),
            entry("narrow-3", RunState.READY),
            entry("call-0", RunState.COMPLETED),
            entry("call-1", RunState.RUNNING),
            entry("call-2", RunState.PENDING),
            entry("call-3", RunState.PENDING),
            entry("dag/top", RunState.COMPLETED),
            entry("dag/never", RunState.SKIPPED),
            entry("dag/held", RunState.RUNNING),
            entry("dag/join", RunState.PENDING));

    /** What each gives in the end. */
    private static final Map<String, String> RESULTS = Map.ofEntries(
            entry("completed", "completed one two"),
            entry("failed", "failed"),
            entry("napping", "napping one two"),
            entry("waiting", "waiting news"),
            entry("asking", "asking answer"),
            entry("parent", "parent one two"),
            entry("paused", "paused news"),
            entry("backing-off", "backing-off"),
            entry("holding", "holding"),
            entry("limited-1", "limited-1"),
            entry("limited-2", "limited-2"),
            entry("narrow-1", "narrow-1"),
            entry("narrow-2", "narrow-2"),
            entry("narrow-3", "narrow-3"),
            entry("call-0", "call-0"),
            entry("call-1", "call-0 call-1"),
            entry("call-2", "call-0 call-1 call-2"),
            entry("call-3", "call-0 call-1 call-2 call-3"),
            entry("dag", "top held join"),
            entry("ready", "ready"),
            entry("from-sql", "from-sql"));

    private final Perdure client;
    private final UpgradeDefinitions definitions = new UpgradeDefinitions(Hold.AFTER);

    /** Starts and reads with this client. */
    public UpgradeRuns(Perdure client) {
        this.client = client;
    }

    /** Lets a worker of this version know all that the older one knew. */
    public static void register(PerdureBuilder worker) {
        new UpgradeDefinitions(Hold.AFTER).register(worker);
        worker.retention(Retention.of(Retention.FOREVER)); // the dump is old
    }

    /** Starts all that a worker of the older version begins, and waits until each is in its state. */
    void begin() {
        start(Invocation.of(definitions.steps, "completed"), "completed");
        start(Invocation.of(definitions.fails, "failed"), "failed");
        start(Invocation.of(definitions.waits, "cancelled"), "cancelled").cancel("no longer wanted");
        start(Invocation.of(definitions.naps, "napping"), "napping");
        start(Invocation.of(definitions.waits, "waiting"), "waiting");
        start(Invocation.of(definitions.asks, "asking"), "asking");
        start(Invocation.of(definitions.parent, "parent"), "parent");
        start(Invocation.of(definitions.waits, "paused"), "paused").pause("by an operator");
        start(Invocation.of(definitions.backsOff, "backing-off"), "backing-off");
        start(Invocation.of(definitions.holds, "holding"), "holding");
        start(Invocation.of(definitions.limited, "limited-1"), "limited-1");
        await(Map.of("limited-1", RunState.RUNNING, "paused", RunState.PAUSED));
        start(Invocation.of(definitions.limited, "limited-2"), "limited-2");
        for (String id : List.of("narrow-1", "narrow-2", "narrow-3")) {
            client.start(
                    Invocation.of(definitions.holds, id), StartOptions.id(id).queue(UpgradeDefinitions.QUEUE));
            await(Map.of("narrow-1", RunState.RUNNING));
        }
        client.object(UpgradeList.class, KEY).send(UpgradeList::append, "call-0", StartOptions.id("call-0"));
        for (String id : List.of("call-1", "call-2", "call-3")) {
            client.object(UpgradeList.class, KEY).send(UpgradeList::appendSlowly, id, StartOptions.id(id));
        }
        client.start(definitions.dag, "dag", StartOptions.id("dag"));
        await(STATES);
    }

    /** Starts what no worker begins. */
    void startLater() {
        start(Invocation.of(definitions.later, "ready"), "ready");
    }

    private Run<String> start(Invocation<String> invocation, String id) {
        return client.start(invocation, StartOptions.id(id));
    }

    private Run<String> run(String id) {
        return client.run(RunId.of(id), TypeRef.of(String.class));
    }

    private void await(Map<String, RunState> wanted) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        Map<String, String> others = others(wanted);
        while (!others.isEmpty()) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException(
                        "Within %s these are not in the state wanted: %s".formatted(PATIENCE, others));
            }
            LockSupport.parkNanos(BETWEEN.toNanos());
            others = others(wanted);
        }
    }

    /** The runs that are not in the state in which the older version has left them. */
    public Map<String, String> others() {
        return others(STATES);
    }

    private Map<String, String> others(Map<String, RunState> wanted) {
        Map<String, String> others = new TreeMap<>();
        wanted.forEach((id, state) -> {
            String now = state(id);
            if (!now.equals(state.name())) {
                others.put(id, now);
            }
        });
        return others;
    }

    private String state(String id) {
        try {
            return run(id).state().name();
        } catch (UnknownRunException notYet) {
            return "missing";
        }
    }

    /** Gives the runs what they wait for, and waits for their ends; gives what is not as it should be. */
    public List<String> end() {
        long before = fired();
        client.send(RunId.of("waiting"), UpgradeDefinitions.NEWS, "news");
        client.send(RunId.of("paused"), UpgradeDefinitions.NEWS, "news");
        client.resolve(run("asking").published(UpgradeDefinitions.TOKEN).orElseThrow(), "answer");
        run("paused").resume();
        run("failed").retry();
        List<String> violations = new ArrayList<>();
        RESULTS.forEach((id, result) -> {
            String given = run(id).result(PATIENCE);
            if (!given.equals(result)) {
                violations.add("Run '%s' gave '%s' instead of '%s'.".formatted(id, given, result));
            }
        });
        if (!state("cancelled").equals("CANCELLED")) {
            violations.add("Run 'cancelled' is %s.".formatted(state("cancelled")));
        }
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (fired() <= before && System.nanoTime() < end) {
            LockSupport.parkNanos(BETWEEN.toNanos());
        }
        if (fired() <= before) {
            violations.add("The schedule has not fired.");
        }
        for (RunInfo wrong : client.runs(RunFilter.all().state(RunState.FAILED, RunState.PAUSED))
                .list()) {
            violations.add("Run '%s' is %s: %s".formatted(wrong.id(), wrong.state(), wrong.reason()));
        }
        return violations;
    }

    private long fired() {
        return client.runs(RunFilter.all()
                        .definition(UpgradeDefinitions.FIRED)
                        .state(RunState.COMPLETED)
                        .limit(MANY))
                .list()
                .size();
    }
}
