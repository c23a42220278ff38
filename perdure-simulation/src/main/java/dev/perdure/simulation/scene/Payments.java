package dev.perdure.simulation.scene;

import dev.perdure.ForkOptions;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.Saga;
import dev.perdure.StartOptions;
import dev.perdure.StepOptions;
import dev.perdure.TypeRef;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.RetryRefusedException;
import dev.perdure.error.RunConflictException;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/** Sagas with transaction steps: money moves once, or goes back; payments that have gone back are forked and begin anew. */
public final class Payments implements Scene {
    private static final String FORK = "-fork";

    private final Cast cast;
    private final Bank bank;
    private final int count;
    /** How often it was asked that a payment begin anew. */
    private final Map<String, Integer> reruns = new TreeMap<>();

    /** For one history. */
    public Payments(Cast cast) {
        this.cast = cast;
        this.bank = new Bank(cast);
        this.count = (int) cast.choices().between(1, 4);
    }

    /** The workflows. */
    public static final class Code {
        private final Payments scene;

        Code(Payments scene) {
            this.scene = scene;
        }

        /** Takes money and ships; every second payment cannot be shipped, and gives the money back. */
        @Workflow("payment")
        public int pay(WorkflowContext ctx, int number) {
            String id = ctx.runId().value();
            Saga saga = new Saga(ctx);
            try {
                saga.undo("give back", () -> {
                    scene.cast.pause();
                    scene.bank.undo("take " + id, "give back " + id, number + 1);
                });
                int taken = ctx.transaction("take", scene.bank, transaction -> {
                    transaction.move("a", "b", number + 1);
                    transaction.insert("take " + id);
                    scene.cast.pause();
                    return number;
                });
                ctx.step("ship", () -> scene.ship(id, number), StepOptions.retry(2));
                ctx.transact("book", scene.bank, transaction -> transaction.insert("book " + id));
                return taken;
            } catch (RuntimeException failure) {
                throw saga.compensate(failure);
            }
        }
    }

    private void ship(String id, int number) {
        cast.pause();
        if (number % 2 == 1 && !id.contains(FORK)) {
            throw new IllegalStateException("It cannot be shipped.");
        }
    }

    @Override
    public void register() {
        cast.register(new Code(this));
    }

    @Override
    public void play() {
        for (int i = 0; i < count; i++) {
            cast.perdure().start(Code::pay, i, StartOptions.id("payment-" + i));
            cast.pauseUpTo(Duration.ofMillis(10));
        }
        for (int i = 1; i < count; i += 2) {
            cast.pauseUpTo(Duration.ofSeconds(2));
            fork("payment-" + i);
            beginAnew("payment-" + i);
        }
    }

    private void beginAnew(String id) {
        if (cast.choices().oneIn(2)) {
            cast.call(perdure -> {
                reruns.merge(id, 1, Integer::sum);
                try {
                    perdure.rerun(RunId.of(id));
                } catch (RetryRefusedException early) {
                    cast.pause(); // it has not ended
                }
            });
        }
    }

    /** Only when it has failed: a run that is forked before may give its money back later. */
    private void fork(String id) {
        int position = (int) cast.choices().between(1, 4);
        if (cast.info(id).filter(info -> info.state() == RunState.FAILED).isPresent()) {
            cast.call(perdure -> {
                try {
                    perdure.run(RunId.of(id), TypeRef.of(Integer.class))
                            .fork(ForkOptions.from(position).id(id + FORK));
                } catch (RetryRefusedException undone) {
                    cast.pause(); // it would take over money that was given back
                } catch (RunConflictException repeated) {
                    cast.pause(); // the process that asked before has died, and its fork is there
                }
            });
        }
    }

    private void checkFork(String id) {
        if (cast.completed(id + FORK)) {
            boolean own = bank.count("take " + id + FORK) > 0;
            Cast.must(
                    own || bank.count("give back " + id) == 0,
                    "The fork of %s is booked, and the money of %s was given back.",
                    id,
                    id);
        }
    }

    @Override
    public void check() {
        Cast.must(bank.total() == Bank.begin(), "The bank has %s.", bank.total());
        for (int i = 0; i < count; i++) {
            String id = "payment-" + i;
            long taken = bank.count("take " + id);
            long back = bank.count("give back " + id);
            long booked = bank.count("book " + id);
            String found = "%s: taken %s, given back %s, booked %s".formatted(id, taken, back, booked);
            Cast.must(taken <= 1 + reruns.getOrDefault(id, 0) && back <= taken && booked <= taken, "%s.", found);
            checkFork(id);
            RunState state = cast.info(id).orElseThrow().state();
            if (state == RunState.COMPLETED) {
                Cast.must(taken == 1 && back == 0 && booked == 1, "%s, and it has completed.", found);
            } else if (bank.isFenced() && !cast.isKilled(id)) {
                Cast.must(back == taken, "%s, and it is %s.", found, state);
                Cast.must(
                        state == RunState.CANCELLED || i % 2 == 1,
                        "%s is %s: %s",
                        id,
                        state,
                        cast.info(id).orElseThrow().reason());
            }
        }
    }
}
