package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.error.StoreException;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Leases.Joining;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Awaited;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.change.WorkerId;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** A store with one worker, and what tests say to it. */
final class StoreFixture {
    static final Move STAY = new Move.Stay();

    final Store store;
    final WorkerId worker = new WorkerId(UUID.randomUUID());

    StoreFixture(Store store) {
        this.store = store;
        store.leases().join(new Joining(worker, Set.of("order"), null, Duration.ofMinutes(10), 4));
    }

    static Payload json(String text) {
        return new Payload(text.getBytes(StandardCharsets.UTF_8));
    }

    static NewRun newRun(String id) {
        return new NewRun(RunId.of(id), "order", json("{\"id\":1}"), id.hashCode(), "default", 0, null, null);
    }

    static Entry step(int position) {
        return new Entry(position, 0, Entry.Kind.STEP, "charge", Entry.Status.VALUE, json("[1,2]"));
    }

    static Change.Advance append(RunRef run, int position) {
        return new Change.Advance(run, 1, List.of(step(position)), STAY);
    }

    static Change.Advance complete(RunRef run) {
        return new Change.Advance(run, 1, List.of(), new Move.End(RunState.COMPLETED, json("\"ok\""), ""));
    }

    /** Ends a run and takes on one of those that come after it. */
    static Change.Advance completeAndGoOn(Claimed run) {
        Move end = new Move.End(RunState.COMPLETED, json("\"ok\""), "", 1);
        return new Change.Advance(run.run(), run.epoch(), List.of(), end);
    }

    /** Starts a run with two tasks, one after the other, in this worker. */
    static Change.Start line(String id, WorkerId worker) {
        List<Task> tasks = List.of(new Task(newRun(id + "/a"), List.of()), new Task(newRun(id + "/b"), List.of(0)));
        return new Change.Start(newRun(id), worker, List.of(), tasks);
    }

    /** A run that answers a call of another. */
    static NewRun child(RunRef parent, String id, int position) {
        NewRun run = newRun(id);
        return new NewRun(
                run.id(),
                run.definition(),
                run.input(),
                run.seed(),
                run.queue(),
                run.priority(),
                null,
                null,
                null,
                new Parent(parent, position, true));
    }

    /** A wait for one mail on any of these, without a timer. */
    static Change.Advance await(RunRef run, Channel... channels) {
        Awaited awaited = new Awaited(Set.of(channels), 1);
        return new Change.Advance(run, 1, List.of(), new Move.Wait(RunState.SUSPENDED, new Due.Never(), awaited, 0));
    }

    /** A wait for a mail on each of these, without a timer. */
    static Change.Advance awaitAll(RunRef run, Channel... channels) {
        Awaited awaited = new Awaited(Set.of(channels), channels.length);
        return new Change.Advance(run, 1, List.of(), new Move.Wait(RunState.SUSPENDED, new Due.Never(), awaited, 0));
    }

    static Change.Deliver message(RunRef run, String topic) {
        return new Change.Deliver(
                run.id(), Mail.value(Channel.message(topic), UUID.randomUUID(), json("\"" + topic + "\"")));
    }

    Outcome apply(Change change) {
        return apply(List.of(change)).getFirst();
    }

    /** On a slow machine it may find a row locked for too long, and is sent again, as the engine does. */
    List<Outcome> applyPatiently(List<Change> changes) {
        while (true) {
            try {
                return apply(changes);
            } catch (StoreException locked) {
                assertThat(locked.kind()).isEqualTo(StoreException.Kind.UNAVAILABLE);
            }
        }
    }

    List<Outcome> apply(List<Change> changes) {
        return store.ledger().apply(new Lane(worker, 0), changes);
    }

    RunRef start(String id) {
        return startAll(List.of(id)).getFirst();
    }

    List<RunRef> startAll(List<String> ids) {
        List<Change> starts = new ArrayList<>();
        ids.forEach(id -> starts.add(new Change.Start(newRun(id), worker)));
        return apply(starts).stream()
                .map(outcome -> ((Outcome.Started) outcome).run())
                .toList();
    }

    Poll poll(int limit) {
        return new Poll(worker, Set.of("order"), Set.of("default"), null, limit, true);
    }
}
