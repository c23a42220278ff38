package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Hints.Hint;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.change.WorkerId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Hints within one process. A store may leave any of them out, so a store without hints skips this class. */
public abstract class HintsConformance extends StoreConformance {
    /** For subclasses. */
    protected HintsConformance() {}

    private final List<Hint> heard = Collections.synchronizedList(new ArrayList<>());

    @Test
    void what_may_be_worth_a_look_is_told() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        try (Hints.Subscription subscription = store().hints().subscribe(heard::add)) {
            assertThat(subscription).isNotNull();
            startReady("b");
            command(run, CommandKind.CANCEL, "enough");
            apply(worker, advance(run, 1, complete("1")));
        }
        startReady("c");

        assertThat(heard)
                .containsExactly(
                        new Hints.WorkReady(), new Hints.WorkerSignalled(worker), new Hints.RunEnded(run.id()));
    }

    @Test
    void that_a_task_can_begin_is_told() {
        WorkerId worker = join();
        List<Task> tasks = List.of(new Task(newRun("a"), List.of()), new Task(newRun("b"), List.of(0)));
        Outcome.Started started =
                (Outcome.Started) apply(worker, new Change.Start(newRun("dag"), worker, List.of(), tasks));
        try (Hints.Subscription subscription = store().hints().subscribe(heard::add)) {
            assertThat(subscription).isNotNull();
            apply(worker, advance(started.handed().getFirst().run(), 1, complete("1")));
        }
        assertThat(heard).contains(new Hints.WorkReady());
    }

    @Test
    void what_a_run_shows_is_told() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        RunRef other = startOwned(worker, "b");
        Mail paid = mail(Channel.promise("paid"), "1");
        Mail ready = mail(Channel.promise("ready"), "1");
        try (Hints.Subscription subscription = store().hints().subscribe(heard::add)) {
            assertThat(subscription).isNotNull();
            apply(worker, new Change.Deliver(run.id(), paid));
            assertThat(shown()).containsExactly(run.id());
            apply(
                    worker,
                    new Change.Advance(
                            run,
                            1,
                            List.of(),
                            List.of(
                                    new Effect.Publish("progress", 1, payload("1")),
                                    new Effect.Deliver(other.id(), ready)),
                            STAY));
            assertThat(shown()).containsExactly(run.id(), run.id(), other.id());
        }
    }

    private List<RunId> shown() {
        return heard.stream()
                .filter(Hints.RunShows.class::isInstance)
                .map(hint -> ((Hints.RunShows) hint).run())
                .toList();
    }
}
