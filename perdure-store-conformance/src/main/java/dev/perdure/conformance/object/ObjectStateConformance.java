package dev.perdure.conformance.object;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The state of virtual objects, which only the call that holds the object changes. */
public abstract class ObjectStateConformance extends ObjectCallConformance {
    /** For subclasses. */
    protected ObjectStateConformance() {}

    @Test
    void state_is_set_and_cleared_with_the_transitions_of_the_holder() {
        WorkerId worker = join();
        RunRef run = started(worker, exclusive("run")).run();
        assertThat(state(CART)).isEmpty();
        Change.Advance first = advance(
                run,
                1,
                STAY,
                List.of(
                        new Effect.SetState("a", payload("1")),
                        new Effect.SetState("b", payload("2")),
                        new Effect.SetState("a", payload("3"))),
                step(1, "1"));
        applied(worker, first);
        assertThat(state(CART)).isEqualTo(Map.of("a", "3", "b", "2"));
        apply(worker, first);
        assertThat(state(CART)).isEqualTo(Map.of("a", "3", "b", "2"));
        assertThat(store().states().read(CART, "b"))
                .map(ObjectCallConformance::text)
                .hasValue("2");
        assertThat(store().states().read(CART, "c")).isEmpty();
        assertThat(store().states().readAll(new ObjectKey("cart", "user-2"))).isEmpty();

        List<Effect> more = List.of(
                new Effect.ClearState("a"), new Effect.SetState("c", payload("4")), new Effect.ClearState("unknown"));
        applied(worker, advance(run, 1, sleep(Duration.ofDays(1)), more));
        assertThat(state(CART)).isEqualTo(Map.of("b", "2", "c", "4"));
        advance(Duration.ofDays(1));
        long epoch = claimOne(worker).epoch();
        List<Effect> last = List.of(
                new Effect.SetState("d", payload("5")),
                new Effect.ClearAllState(),
                new Effect.SetState("b", payload("6")));
        applied(worker, advance(run, epoch, end(1), last));
        assertThat(state(CART)).isEqualTo(Map.of("b", "6"));
    }

    @Test
    void a_worker_that_lost_the_run_changes_no_state() {
        WorkerId worker = join();
        WorkerId other = join();
        RunRef run = started(worker, exclusive("run")).run();
        List<Effect> set = List.of(new Effect.SetState("a", payload("1")));
        assertThat(apply(other, advance(run, 1, end(0), set))).isInstanceOf(Outcome.Fenced.class);
        assertThat(apply(worker, advance(run, 7, end(0), set))).isInstanceOf(Outcome.Fenced.class);
        store().leases().leave(worker);
        assertThat(apply(worker, advance(run, 1, STAY, set, step(1, "1")))).isInstanceOf(Outcome.Fenced.class);
        assertThat(state(CART)).isEmpty();
    }
}
