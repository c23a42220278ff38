package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The children of a run, one page at a time. */
public abstract class ChildListConformance extends StoreConformance {
    /** For subclasses. */
    protected ChildListConformance() {}

    @Test
    void children_are_read_in_pages_oldest_first() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Effect report = new Effect.Start(newRun("report").withParent(Parent.reporting(run)));
        apply(
                worker,
                advance(
                        run,
                        1,
                        STAY,
                        List.of(
                                new Effect.Start(child("first", run, 1, true)),
                                new Effect.Start(child("second", run, 2, true)),
                                report)));
        apply(worker, advance(refOf("first"), claimOne(worker).epoch(), complete("1")));
        advance(Duration.ofSeconds(1));
        // Nobody waits for it: a store may give such a run a key of another kind.
        apply(worker, advance(run, 1, STAY, List.of(new Effect.Start(child("third", run, 3, false)))));

        List<Runs.TaskRow> all = store().runs().children(run);
        assertThat(all).extracting(row -> row.run().id().value()).containsExactly("first", "second", "third");
        assertThat(all.getFirst().outcome()).isEqualTo(payload("1"));
        Runs.BelowPage first = store().runs().children(run, Runs.BelowPlace.FIRST, 2);
        assertThat(first.runs())
                .containsExactly(
                        new Runs.Below(
                                refOf("first"), all.getFirst().info(), List.of(), withoutReasons(all.getFirst())),
                        new Runs.Below(refOf("second"), all.get(1).info(), List.of(), withoutReasons(all.get(1))));
        advance(Duration.ofSeconds(1));
        apply(worker, advance(run, 1, STAY, List.of(new Effect.Start(child("between", run, 5, false)))));
        Runs.BelowPage second = store().runs().children(run, first.next().orElseThrow(), 2);
        assertThat(second.runs())
                .as("also what was started between the two pages")
                .extracting(child -> child.run().id().value())
                .containsExactly("third", "between");
        assertThat(second.next()).isEmpty();
        assertThat(store().runs().children(run, new Runs.BelowPlace(now(), Long.MAX_VALUE), 2))
                .isEqualTo(new Runs.BelowPage(List.of(), Optional.empty()));
    }

    @Test
    void children_of_one_instant_are_read_in_pages_without_gaps() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        List<Effect> starts = IntStream.rangeClosed(1, 5)
                .<Effect>mapToObj(i -> new Effect.Start(child("child-" + i, run, i, i % 2 == 0)))
                .toList();
        apply(worker, advance(run, 1, STAY, starts));

        List<RunRef> paged = new ArrayList<>();
        Optional<Runs.BelowPlace> next = Optional.of(Runs.BelowPlace.FIRST);
        while (next.isPresent()) {
            Runs.BelowPage page = store().runs().children(run, next.get(), 2);
            page.runs().forEach(child -> paged.add(child.run()));
            next = page.next();
        }
        assertThat(paged)
                .isEqualTo(store().runs().children(run).stream()
                        .map(Runs.TaskRow::run)
                        .toList())
                .hasSize(5);
    }

    @Test
    void a_list_shows_the_first_hundred_states_of_a_child_and_all_are_read_in_pages() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, STAY, List.of(new Effect.Start(child("child", run, 1, true)))));
        RunRef child = refOf("child");
        for (int states = 2; states <= Runs.Below.SHOWN_STATES; states += 2) {
            apply(worker, advance(child, claimOne(worker).epoch(), new Move.Yield()));
        }
        List<Runs.Entered> all = store().runs().entered(child);

        assertThat(store().runs()
                        .children(run, Runs.BelowPlace.FIRST, 1)
                        .runs()
                        .getFirst()
                        .history())
                .isEqualTo(all.subList(0, Runs.Below.SHOWN_STATES))
                .hasSizeLessThan(all.size());
        List<Runs.Entered> paged = new ArrayList<>();
        List<Runs.NumberedState> page = store().runs().entered(child, -1, 7);
        while (!page.isEmpty()) {
            assertThat(page).hasSizeLessThanOrEqualTo(7);
            page.forEach(state -> paged.add(state.entered()));
            page = store().runs().entered(child, page.getLast().number(), 7);
        }
        assertThat(paged).isEqualTo(all);
    }

    private static List<Runs.Entered> withoutReasons(Runs.TaskRow row) {
        return row.history().stream()
                .map(entered -> new Runs.Entered(entered.state(), entered.at(), ""))
                .toList();
    }
}
