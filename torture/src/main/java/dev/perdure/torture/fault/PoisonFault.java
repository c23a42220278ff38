package dev.perdure.torture.fault;

import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.torture.setup.Address;
import dev.perdure.torture.setup.WorkerProcess;
import dev.perdure.torture.work.Burst;
import dev.perdure.torture.work.Poison;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Runs that harm their worker, beside others that do not, in a queue of their own: one kills its process each time, one
 * overflows the stack, one has an input that is not of its type. The first and the last are paused, each with its
 * reason, and all others end. The queue keeps the deaths away from the other workloads, whose processes {@code kill}
 * kills.
 */
final class PoisonFault {
    /** Ten recoveries, and one that a worker began before it heard of the pause. */
    private static final int MOST_DEATHS = 11;

    private static final int OTHERS = 20;
    private static final String PARKED = "Recovered 10 times without progress";
    private static final String UNREADABLE = "cannot be read back";
    private static final String OVERFLOWED = "java.lang.StackOverflowError";
    private static final String START_UNREADABLE =
            "SELECT perdure.start_run('poison', ?, '{\"no\": \"way\"}', queue => ?)";

    private PoisonFault() {}

    static String poison(Target target, Random chance) throws Exception {
        String queue = "poison-" + UUID.randomUUID();
        List<Run<Integer>> others = others(target, queue);
        Run<String> overflows = start(target, queue, Poison.Way.OVERFLOW);
        Run<String> unreadable = startUnreadable(target, queue);
        Run<String> kills = start(target, queue, Poison.Way.KILL);
        Replaced worker = new Replaced(target, queue);
        try {
            worker.workUntil("the run that kills its process is paused", () -> kills.state() == RunState.PAUSED);
            worker.workUntil(
                    "the runs beside it have ended",
                    () -> others.stream().allMatch(run -> run.resultNow().isPresent()));
            worker.workUntil(
                    "the stack has overflowed",
                    () -> overflows.resultNow().stream().anyMatch(OVERFLOWED::equals));
            worker.workUntil("the run that cannot be read is paused", () -> unreadable.state() == RunState.PAUSED);
        } finally {
            worker.end();
        }
        check(kills, PARKED);
        check(unreadable, UNREADABLE);
        for (Run<String> paused : List.of(kills, unreadable)) {
            RunFaults.until("the paused run is killed", () -> {
                paused.kill("It is poison.");
                return paused.state() == RunState.CANCELLED;
            });
        }
        long deaths = deaths(target, kills);
        if (deaths > MOST_DEATHS) {
            throw new IllegalStateException("Run '%s' has killed %d processes.".formatted(kills.id(), deaths));
        }
        return "paused after %d deaths of its process; %d runs beside it have ended".formatted(deaths, OTHERS);
    }

    private static List<Run<Integer>> others(Target target, String queue) {
        List<Integer> inputs = IntStream.range(0, OTHERS).boxed().toList();
        return RunFaults.started(() -> target.client()
                .startAll(
                        inputs,
                        number -> Invocation.of(Burst.definition(target.parts()), number),
                        number -> StartOptions.id(queue + "-other-" + number).queue(queue)));
    }

    private static Run<String> start(Target target, String queue, Poison.Way way) {
        return RunFaults.started(() -> target.client()
                .start(
                        Invocation.of(Poison.definition(target.parts().ledger()), way),
                        StartOptions.id(queue + "-" + way).queue(queue)));
    }

    /** From SQL, where nothing checks the type of an input. The id makes this start idempotent, too. */
    private static Run<String> startUnreadable(Target target, String queue) {
        RunId id = RunId.of(queue + "-unreadable");
        RunFaults.until("the run that cannot be read is started", () -> isStarted(target, id, queue));
        return RunFaults.started(() -> target.client().run(id, TypeRef.of(String.class))); // once a worker has read it
    }

    private static boolean isStarted(Target target, RunId id, String queue) {
        Address address = target.site().direct();
        try (Connection connection =
                        DriverManager.getConnection(address.jdbcUrl(), address.user(), address.password());
                PreparedStatement start = connection.prepareStatement(START_UNREADABLE)) {
            start.setString(1, id.value());
            start.setString(2, queue);
            start.execute();
            return true;
        } catch (SQLException away) {
            return false; // another fault keeps the server away
        }
    }

    private static void check(Run<String> run, String reason) {
        String found = RunFaults.started(() -> run.info().reason().orElse(""));
        if (!found.contains(reason)) {
            throw new IllegalStateException("Run '%s' is paused because: %s".formatted(run.id(), found));
        }
    }

    /** By the ledger: its body writes a line before it kills. */
    private static long deaths(Target target, Run<String> run) throws SQLException {
        return target.parts().ledger().lines().stream()
                .filter(line -> line.run().equals(run.id().value()))
                .count();
    }

    /** A worker process that is started again each time that it has died. */
    private static final class Replaced {
        private final Target target;
        private final String queue;
        private @Nullable WorkerProcess process;

        Replaced(Target target, String queue) {
            this.target = target;
            this.queue = queue;
        }

        void workUntil(String what, Supplier<Boolean> condition) {
            RunFaults.until(what, () -> {
                keepAlive();
                return condition.get();
            });
        }

        private void keepAlive() {
            if (process != null && process.isAlive()) {
                return;
            }
            try {
                process = target.site().workers().beside(List.of(), List.of("queue=" + queue));
            } catch (IOException ended) {
                process = null; // the run has killed it already, or another fault keeps it from joining
            }
        }

        void end() throws IOException, InterruptedException {
            if (process != null) {
                process.end();
            }
        }
    }
}
