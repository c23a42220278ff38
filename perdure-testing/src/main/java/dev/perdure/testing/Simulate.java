package dev.perdure.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test that runs once for each of many seeds. In each run, the whole engine is simulated: several workers, their
 * store and the network between them, one thread at a time. The seed decides which thread runs next, how long
 * everything takes, which worker dies, and which answer is lost. If a run fails, the test prints its seed, what
 * happened, and the fewest faults with which it still fails.
 *
 * <pre>{@code
 * @Simulate(seeds = 500)
 * void no_money_is_lost(Simulation simulation) {
 *     Bank bank = new Bank();
 *     simulation.register(new Transfers(bank));
 *     simulation.client().start(Transfers::transfer, new Transfer("a", "b", 10)).result();
 *     assertThat(bank.total()).isEqualTo(200);
 * }
 * }</pre>
 *
 * <p>Each seed gets a new instance of the test class, but not the methods before and after each test. Create everything
 * that a history uses in the method itself. Code of a simulation must not block outside of it: see {@link
 * Simulation#pause}.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Test
@ExtendWith(SimulateExtension.class)
public @interface Simulate {
    /** The number of seeds, starting with 1. */
    int seeds() default 200;

    /** The only seed to run, to repeat a failure. Zero runs all. */
    long seed() default 0;
}
