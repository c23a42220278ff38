package dev.perdure.conformance.object;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunInfo;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs.WaitingCall;
import dev.perdure.spi.States.Listed;
import dev.perdure.spi.States.Page;
import dev.perdure.spi.States.Values;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.ObjectCall.Hold;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
    void objects_are_listed_with_their_holders_and_the_calls_that_wait() {
        WorkerId worker = join();
        RunRef holder = started(worker, exclusive("holder")).run();
        started(worker, exclusive("second"));
        started(worker, exclusive("third"));
        started(worker, call("free", new ObjectKey("cart", "user-10"), Hold.EXCLUSIVE));
        applied(worker, advance(refOf("free"), 1, end(0), List.of(new Effect.SetState("a", payload("1")))));
        started(worker, call("shared", new ObjectKey("cart", "user-3"), Hold.SHARED));
        started(worker, call("other", new ObjectKey("account", "\uD83D\uDE80"), Hold.EXCLUSIVE));

        assertThat(store().states().types("", 10)).containsExactly("account", "cart");
        assertThat(store().states().types("account", 10)).containsExactly("cart");
        assertThat(store().states().types("", 1)).containsExactly("account");
        Listed free = new Listed("user-10", Optional.empty(), 0);
        assertThat(store().states().list(new Page("cart", "", "", 10)))
                .containsExactly(new Listed(CART.key(), Optional.of(holder.id()), 2), free);
        assertThat(store().states().list(new Page("cart", "user-10", "", 10))).containsExactly(free);
        assertThat(store().states().list(new Page("cart", "user-", CART.key(), 1)))
                .containsExactly(free);
        assertThat(store().states().list(new Page("account", "\uD83D\uDE80", "", 10)))
                .extracting(Listed::key)
                .containsExactly("\uD83D\uDE80");
        assertThat(store().states().list(new Page("none", "", "", 10))).isEmpty();

        assertThat(store().runs().holder(CART)).map(RunInfo::id).contains(holder.id());
        assertThat(store().runs().holder(new ObjectKey("cart", "user-10"))).isEmpty();
        List<WaitingCall> waiting = store().runs().waitingCalls(CART, 0, 10);
        assertThat(waiting).extracting(call -> call.run().id().value()).containsExactly("second", "third");
        assertThat(store().runs().waitingCalls(CART, waiting.getFirst().number(), 10))
                .containsExactly(waiting.getLast());
        assertThat(store().runs().waitingCalls(CART, 0, 1)).containsExactly(waiting.getFirst());

        applied(worker, advance(holder, 1, end(0)));
        assertThat(store().runs().holder(CART)).map(run -> run.id().value()).contains("second");
        assertThat(store().runs().waitingCalls(CART, 0, 10))
                .extracting(WaitingCall::number)
                .containsExactly(waiting.getLast().number());
    }

    @Test
    void the_state_of_an_object_is_read_page_by_page() {
        WorkerId worker = join();
        RunRef run = started(worker, exclusive("run")).run();
        applied(
                worker,
                advance(
                        run,
                        1,
                        STAY,
                        List.of(
                                new Effect.SetState("b", payload("2")),
                                new Effect.SetState("\uFF5E", payload("3")),
                                new Effect.SetState("\uD83D\uDE80", payload("4")),
                                new Effect.SetState("a", payload("1"))),
                        step(1, "1")));

        assertThat(store().states().read(CART, "", 4, 1_000)).satisfies(all -> {
            assertThat(all.values().keySet()).containsExactly("a", "b", "\uFF5E", "\uD83D\uDE80");
            assertThat(all.last()).isTrue();
        });
        assertThat(store().states().read(CART, "a", 1, 1_000)).satisfies(page -> {
            assertThat(page.values()).containsExactly(Map.entry("b", payload("2")));
            assertThat(page.last()).isFalse();
        });
        assertThat(store().states().read(new ObjectKey("cart", "none"), "", 10, 1_000))
                .satisfies(none -> {
                    assertThat(none.values()).isEmpty();
                    assertThat(none.last()).isTrue();
                });
    }

    @Test
    void a_page_of_state_has_one_value_or_as_many_as_fit_into_the_bytes() {
        WorkerId worker = join();
        RunRef run = started(worker, exclusive("run")).run();
        List<Effect> set = List.of(
                new Effect.SetState("a", payload("x".repeat(30))),
                new Effect.SetState("b", payload("x".repeat(10))),
                new Effect.SetState("c", payload("x".repeat(10))),
                new Effect.SetState("d", payload("x")));
        applied(worker, advance(run, 1, STAY, set, step(1, "1")));

        assertThat(namesAfter("", 20)).isEqualTo("a…");
        assertThat(namesAfter("a", 20)).isEqualTo("bc…");
        assertThat(namesAfter("a", 21)).isEqualTo("bcd");
        assertThat(namesAfter("c", 20)).isEqualTo("d");
    }

    private String namesAfter(String name, int maxBytes) {
        Values page = store().states().read(CART, name, 10, maxBytes);
        return String.join("", page.values().keySet()) + (page.last() ? "" : "…");
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
