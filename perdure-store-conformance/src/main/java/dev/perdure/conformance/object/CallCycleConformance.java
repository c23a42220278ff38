package dev.perdure.conformance.object;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall.Hold;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Calls of virtual objects that wait for each other in a cycle: the youngest is refused. */
public abstract class CallCycleConformance extends ObjectCallConformance {
    /** For subclasses. */
    protected CallCycleConformance() {}

    @Test
    void a_call_that_waits_for_its_own_caller_fails_with_the_chain() {
        WorkerId worker = join();
        RunRef holder = started(worker, exclusive("holder")).run();
        NewRun inner = withParent(exclusive("inner"), holder);
        applied(worker, advance(holder, 1, STAY, List.of(new Effect.Start(inner)), step(1, "1")));
        assertThat(unreadText(holder))
                .singleElement()
                .asString()
                .startsWith("FAILED: Calls wait for each other in a cycle: 'inner' (order of 'user-1') waits for "
                        + "'holder' (order of 'user-1') waits for 'inner' (order of 'user-1').");
        assertThat(found(store().runs().find(inner.id()).orElseThrow().ref())
                        .info()
                        .state())
                .isEqualTo(RunState.FAILED);
        applied(worker, advance(holder, 1, end(0)));
        assertThat(started(worker, exclusive("free")).owned()).isTrue();
    }

    @Test
    void a_cycle_between_two_roots_is_broken_at_its_youngest_call() {
        WorkerId worker = join();
        ObjectKey other = new ObjectKey("cart", "user-2");
        RunRef one = started(worker, exclusive("one")).run();
        RunRef two = started(worker, call("two", other, Hold.EXCLUSIVE)).run();
        NewRun toTwo = withParent(call("to-two", other, Hold.EXCLUSIVE), one);
        NewRun toOne = withParent(exclusive("to-one"), two);
        applied(worker, advance(one, 1, STAY, List.of(new Effect.Start(toTwo)), step(1, "1")));
        assertThat(unreadText(one)).isEmpty();
        applied(worker, advance(two, 1, STAY, List.of(new Effect.Start(toOne)), step(1, "1")));
        assertThat(unreadText(one)).isEmpty();
        assertThat(unreadText(two))
                .singleElement()
                .asString()
                .contains("'to-one' (order of 'user-1') waits for 'one' (order of 'user-1') waits for "
                        + "'to-two' (order of 'user-2') waits for 'two' (order of 'user-2') waits for 'to-one'");
    }

    @Test
    void a_call_that_is_paused_while_it_waits_is_part_of_a_cycle() {
        WorkerId worker = join();
        ObjectKey other = new ObjectKey("cart", "user-2");
        RunRef one = started(worker, exclusive("one")).run();
        RunRef two = started(worker, call("two", other, Hold.EXCLUSIVE)).run();
        NewRun toTwo = withParent(call("to-two", other, Hold.EXCLUSIVE), one);
        NewRun toOne = withParent(exclusive("to-one"), two);
        applied(worker, advance(one, 1, STAY, List.of(new Effect.Start(toTwo)), step(1, "1")));
        apply(Lane.client(0), new Change.Command(toTwo.id(), Change.CommandKind.PAUSE, "a look at it"));
        applied(worker, advance(two, 1, STAY, List.of(new Effect.Start(toOne)), step(1, "1")));
        apply(Lane.client(0), new Change.Command(toTwo.id(), Change.CommandKind.RESUME, ""));

        assertThat(unreadText(two))
                .singleElement()
                .asString()
                .startsWith("FAILED: Calls wait for each other in a cycle");
        assertThat(unreadText(one)).isEmpty();
        assertThat(stateOf(store().runs().find(toTwo.id()).orElseThrow().ref())).isEqualTo(RunState.PENDING);
    }

    @Test
    void a_call_that_no_run_waits_for_closes_no_cycle() {
        WorkerId worker = join();
        RunRef holder = started(worker, exclusive("holder")).run();
        applied(worker, advance(holder, 1, STAY, List.of(new Effect.Start(exclusive("sent"))), step(1, "1")));
        RunRef sent = store().runs().find(newRun("sent").id()).orElseThrow().ref();
        assertThat(stateOf(sent)).isEqualTo(RunState.PENDING);
        applied(worker, advance(holder, 1, end(1)));
        assertThat(stateOf(sent)).isEqualTo(RunState.RUNNING);
    }

    private List<String> unreadText(RunRef run) {
        return store().mailboxes().unread(run, 0, Integer.MAX_VALUE).stream()
                .map(arrived -> arrived.mail().text())
                .toList();
    }
}
