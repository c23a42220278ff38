package dev.perdure.simulation.scene;

import dev.perdure.ChildOptions;
import dev.perdure.ForkOptions;
import dev.perdure.Invocation;
import dev.perdure.Repair;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RetryRefusedException;
import dev.perdure.error.RunConflictException;
import dev.perdure.error.TerminalException;
import dev.perdure.error.UnknownRunException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs that fail for good, in a step or a transaction step, alone and below a parent, and are retried until they complete,
 * some of them after a repair; and forks of them from a position at random, while they run and after their end.
 */
public final class Retries implements Scene {
    private static final String DOWN = "The carrier is down.";
    private static final String PARENT = "shipping";
    private static final String CHILD = "shipping.parcel";
    private static final String ALONE = "parcel";
    /** The position of the step that fails. */
    private static final int SHIP = 5;

    private static final int SHIPPED = 7;
    /** What a parcel sends to itself: a fork of it has another id. */
    private static final Topic<Integer> LABEL = Topic.of("label", Integer.class);

    private final Cast cast;
    private final boolean family;
    private final @Nullable Bank bank;
    /** How often the carrier is still down for a run. */
    private final Map<String, Integer> down = new TreeMap<>();
    /** How often the carrier was down for a run. */
    private final Map<String, Integer> failures = new TreeMap<>();
    /** What a run was told that it had reserved. */
    private final Map<String, Integer> reserved = new TreeMap<>();
    /** The idempotency keys under which a run shipped. */
    private final Map<String, Set<String>> keys = new TreeMap<>();

    private final List<Fork> forks = new ArrayList<>();
    private int reservations;

    /**
     * A fork that was asked for.
     *
     * @param id its id
     * @param of the run that was forked
     * @param reserved whether it has the reservation of that run: it was recorded, and stands before the position
     */
    private record Fork(String id, String of, boolean reserved) {}

    /** For one history. */
    public Retries(Cast cast) {
        this.cast = cast;
        this.family = cast.choices().oneIn(2);
        this.bank = cast.choices().oneIn(2) ? new Bank(cast) : null;
    }

    /** The workflows. */
    public static final class Code {
        private final Retries scene;

        Code(Retries scene) {
            this.scene = scene;
        }

        /** Reserves, sleeps, and ships as soon as the carrier is not down. */
        @Workflow("parcel")
        public int parcel(WorkflowContext ctx, int number) {
            int reserved = ctx.step("reserve", scene::reserve);
            scene.isReserved(ctx.runId().value(), reserved);
            ctx.sleep(Duration.ofMillis(number));
            ctx.send(ctx.runId(), LABEL, number);
            ctx.step("pack", () -> scene.cast.pause());
            return reserved + shipped(ctx);
        }

        private int shipped(WorkflowContext ctx) {
            String run = ctx.runId().value();
            Bank bank = scene.bank;
            if (bank == null) {
                return ctx.step("ship", () -> scene.ship(run, ctx.attempt().idempotencyKey()));
            }
            return ctx.transaction("ship", bank, transaction -> {
                transaction.insert("ship " + run);
                return scene.ship(run, ctx.attempt().idempotencyKey());
            });
        }

        /** Waits for a parcel. */
        @Workflow("shipping")
        public int shipping(WorkflowContext ctx, int number) {
            return ctx.startChild(Invocation.of(Code::parcel, number), ChildOptions.childId(CHILD))
                    .await();
        }
    }

    /** Another number each time, so that it shows if it is done again. */
    private int reserve() {
        cast.pause();
        reservations += 10;
        return reservations;
    }

    private void isReserved(String run, int number) {
        Integer before = reserved.putIfAbsent(run, number);
        if (before != null && before != number) {
            cast.fail("Run %s had reserved %s, and now it has %s.".formatted(run, before, number));
        }
    }

    private int ship(String run, String key) {
        keys.computeIfAbsent(run, id -> new HashSet<>()).add(key);
        cast.pause();
        int left = down.getOrDefault(run, 0);
        if (left > 0) {
            down.put(run, left - 1);
            failures.merge(run, 1, Integer::sum);
            throw new TerminalException(DOWN);
        }
        return SHIPPED;
    }

    @Override
    public void register() {
        cast.register(new Code(this));
    }

    @Override
    public void play() {
        String shipped = family ? CHILD : ALONE;
        down.put(shipped, (int) cast.choices().between(1, 3));
        if (family) {
            cast.call(perdure -> perdure.start(Code::shipping, 3, StartOptions.id(PARENT)));
        } else {
            cast.call(perdure -> perdure.start(Code::parcel, 3, StartOptions.id(ALONE)));
        }
        int rounds = (int) cast.choices().between(3, 8);
        for (int i = 0; i < rounds; i++) {
            cast.pauseUpTo(Duration.ofMillis(200));
            if (cast.choices().oneIn(3) || cast.isAimedAt("Change.Fork")) {
                fork(shipped, shipped + "-fork-" + i);
            } else {
                retry(family && cast.choices().oneIn(3) ? PARENT : shipped);
            }
        }
    }

    private void retry(String id) {
        for (int i = 0; i < 20 && !hasEnded(id); i++) {
            cast.pauseUpTo(Duration.ofMillis(200));
        }
        if (!id.equals(PARENT) && (cast.choices().oneIn(4) || cast.isAimedAt("Change.Repair"))) {
            on(id, run -> run.repair(Repair.result(SHIP, SHIPPED, "shipped by hand")));
        }
        on(id, Run::retry);
    }

    private void fork(String of, String id) {
        int position = (int) cast.choices().between(1, SHIP);
        boolean after = position > 1 && reserved.containsKey(of);
        forks.add(new Fork(id, of, after));
        on(of, run -> run.fork(ForkOptions.from(position).id(id)));
    }

    private void on(String id, Consumer<Run<Integer>> operation) {
        cast.call(perdure -> {
            try {
                operation.accept(perdure.run(RunId.of(id), TypeRef.of(Integer.class)));
            } catch (RetryRefusedException | UnknownRunException refused) {
                cast.pause(); // it has not failed, is not far enough, or is not there yet
            } catch (InvalidRequestException refused) {
                cast.pause(); // it has not ended, has completed, or has no such step
            } catch (RunConflictException repeated) {
                cast.pause(); // the process that asked before has died, and its fork is there
            }
        });
    }

    private long shipments(String run) {
        return bank == null ? 0 : bank.count("ship " + run);
    }

    private boolean hasEnded(String id) {
        return cast.info(id).filter(info -> info.state().isTerminal()).isPresent();
    }

    @Override
    public void check() {
        keys.forEach((run, used) ->
                Cast.must(used.size() == 1, "Run %s shipped under these idempotency keys: %s", run, used));
        Cast.must(
                keys.values().stream().flatMap(Set::stream).distinct().count() == keys.size(),
                "Two runs shipped under one idempotency key: %s",
                keys);
        List<String> parcels = new ArrayList<>(List.of(family ? CHILD : ALONE));
        forks.forEach(fork -> parcels.add(fork.id()));
        parcels.forEach(this::checkParcel);
        forks.forEach(this::checkFork);
        if (family) {
            checkFamily();
        }
    }

    private void checkParcel(String id) {
        Cast.must(shipments(id) <= 1, "Parcel %s was shipped %s times.", id, shipments(id));
        if (cast.completed(id)) {
            int result = cast.result(id, Integer.class);
            Cast.must(result == reserved.getOrDefault(id, 0) + SHIPPED, "Parcel %s gave %s: %s", id, result, reserved);
        } else {
            cast.info(id).filter(info -> info.state() == RunState.FAILED).ifPresent(this::mustBeDown);
        }
        long failed = cast.history(id).stream()
                .filter(entered -> entered.state() == RunState.FAILED)
                .count();
        Cast.must(
                failed <= failures.getOrDefault(id, 0),
                "Run %s failed %s times, and the carrier was down for it %s.",
                id,
                failed,
                failures);
    }

    private void mustBeDown(RunInfo failed) {
        Cast.must(shipments(failed.id().value()) == 0, "Run %s failed, and it was shipped.", failed.id());
        Cast.must(
                failed.reason().filter(why -> why.contains(DOWN)).isPresent(),
                "Run %s failed for another reason: %s",
                failed.id(),
                failed.reason());
    }

    /** A fork has what the other run recorded before the position. */
    private void checkFork(Fork fork) {
        if (fork.reserved() && reserved.containsKey(fork.id())) {
            Cast.must(
                    reserved.get(fork.id()).equals(reserved.get(fork.of())),
                    "%s has reserved something else: %s",
                    fork,
                    reserved);
        }
    }

    /** The parent has the outcome of its child, also if both were retried at once. */
    private void checkFamily() {
        boolean failed = cast.info(PARENT)
                .filter(info -> info.state() == RunState.FAILED)
                .isPresent();
        Cast.must(
                !failed || !cast.completed(CHILD),
                "The parent has failed, and the child that it waited for completed.");
        if (cast.completed(PARENT)) {
            int result = cast.result(PARENT, Integer.class);
            Cast.must(
                    cast.completed(CHILD) && result == cast.result(CHILD, Integer.class), "The parent got %s.", result);
        }
    }
}
