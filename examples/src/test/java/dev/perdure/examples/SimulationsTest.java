package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.Saga;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.StepFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.testing.Simulate;
import dev.perdure.testing.Simulation;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SimulationsTest {
    // region shop
    /** Stands for two other systems: a warehouse and a payment provider. */
    static final class Shop {
        private final Simulation simulation;
        private final Set<String> seen = new HashSet<>();
        int stock = 10;
        int paid;

        Shop(Simulation simulation) {
            this.simulation = simulation;
        }

        int stock() {
            simulation.pause(); // the network: others run now, and the worker may die
            return stock;
        }

        void stock(int left) {
            simulation.pause();
            stock = left;
        }

        void pay(int amount) {
            simulation.pause();
            paid += amount;
            simulation.pause();
        }

        /** Does nothing if it has seen the key. */
        void pay(int amount, String key) {
            simulation.pause();
            paid += seen.add(key) ? amount : 0;
            simulation.pause();
        }

        void ship(int count) {
            if (count > 3) {
                throw new TerminalException("Too heavy.");
            }
        }

        void take(int count, String key) {
            simulation.pause();
            stock -= seen.add(key) ? count : 0;
            simulation.pause();
        }
    }
    // endregion

    // region mistakes
    record Mistakes(Shop shop) {
        @Workflow("lost-update")
        public void lostUpdate(WorkflowContext ctx, int count) {
            int before = ctx.step("read the stock", () -> shop.stock());
            ctx.step("write the stock", () -> shop.stock(before - count)); // another run has written meanwhile
        }

        @Workflow("no-idempotency-key")
        public void noIdempotencyKey(WorkflowContext ctx, int amount) {
            ctx.step("charge", () -> shop.pay(amount)); // runs again if the worker dies before the result is recorded
        }

        @Workflow("compensation-not-repeatable")
        public void compensationNotRepeatable(WorkflowContext ctx, int amount) {
            Saga saga = new Saga(ctx);
            try {
                ctx.step("charge", () -> shop.pay(amount, ctx.attempt().idempotencyKey()));
                saga.undo("refund", () -> shop.pay(-amount)); // a compensation is a step, and may run twice as well
                ctx.step("ship", () -> shop.ship(amount));
            } catch (StepFailedException failed) {
                throw saga.compensate(failed);
            }
        }
    }
    // endregion

    // region right
    record Right(Shop shop) {
        @Workflow("order")
        public void order(WorkflowContext ctx, int count) {
            Saga saga = new Saga(ctx);
            try {
                ctx.step("take", () -> shop.take(count, ctx.attempt().idempotencyKey()));
                saga.undo("put back", () -> shop.take(-count, ctx.attempt().idempotencyKey()));
                ctx.step("charge", () -> shop.pay(count * 5, ctx.attempt().idempotencyKey()));
                saga.undo("refund", () -> shop.pay(count * -5, ctx.attempt().idempotencyKey()));
                ctx.step("ship", () -> shop.ship(count));
            } catch (StepFailedException failed) {
                throw saga.compensate(failed);
            }
        }
    }

    @Simulate(seeds = 100)
    void stock_and_payments_agree(Simulation simulation) {
        Shop shop = new Shop(simulation);
        simulation.register(new Right(shop));
        Perdure perdure = simulation.client();
        Run<Void> light = perdure.start(Right::order, 2, id("light"));
        Run<Void> heavy = perdure.start(Right::order, 4, id("heavy"));
        light.result();
        assertThatThrownBy(heavy::result).isInstanceOf(RunFailedException.class);
        assertThat(shop.stock).isEqualTo(8);
        assertThat(shop.paid).isEqualTo(10);
    }
    // endregion

    @Test
    void finds_the_lost_update_between_two_runs() {
        assertThatThrownBy(() -> Simulation.check(500, simulation -> {
                    Shop shop = new Shop(simulation);
                    simulation.register(new Mistakes(shop));
                    Run<Void> one = simulation.client().start(Mistakes::lostUpdate, 1, id("one"));
                    Run<Void> two = simulation.client().start(Mistakes::lostUpdate, 2, id("two"));
                    one.result();
                    two.result();
                    assertThat(shop.stock).isEqualTo(7);
                }))
                .hasMessageContaining("Run it alone with @Simulate(seed = ")
                .hasMessageContaining("'read the stock'");
    }

    @Test
    void finds_the_missing_idempotency_key() {
        assertThatThrownBy(() -> Simulation.check(500, simulation -> {
                    Shop shop = new Shop(simulation);
                    simulation.register(new Mistakes(shop));
                    simulation
                            .client()
                            .start(Mistakes::noIdempotencyKey, 10, id("order"))
                            .result();
                    assertThat(shop.paid).isEqualTo(10);
                }))
                .hasMessageContaining("Seed ")
                .hasMessageContaining("it fails with 1: ");
    }

    @Test
    void finds_the_compensation_that_is_not_safe_to_repeat() {
        assertThatThrownBy(() -> Simulation.check(500, simulation -> {
                    Shop shop = new Shop(simulation);
                    simulation.register(new Mistakes(shop));
                    Run<Void> run = simulation.client().start(Mistakes::compensationNotRepeatable, 10, id("order"));
                    assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
                    assertThat(shop.paid).isZero();
                }))
                .hasMessageContaining("Seed ")
                .hasMessageContaining("'refund'");
    }
}
