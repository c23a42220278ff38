package dev.perdure.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.ChildOptions;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.WorkflowBody;
import dev.perdure.dag.Dag;
import dev.perdure.memory.MemoryStore;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.VirtualObject;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/**
 * A transition that the store refuses for what it carries is refused every time: the run is PAUSED with the reason,
 * whatever the transition was for. Mostly it is refused here because it starts a DAG, and the id of one of its tasks is
 * taken.
 */
@SuppressWarnings("serial") // references to what only this test can reach are never written anywhere
public final class RefusedMoveTest {
    private static final String REASON =
            "The id 'g/a' of one of its tasks is taken by another run. Start it under another id.";
    private static final Dag<String, String> DAG =
            Dag.of("dag", String.class, builder -> builder.task("a", task -> "done"));
    private static final Definition<String, String> OTHER =
            Definition.of("other", String.class, String.class, (ctx, in) -> in);

    private final MemoryStore rows = new MemoryStore();
    private final CompletableFuture<String> paused = new CompletableFuture<>();

    /** Its calls only end, so that they need not wait for their turn before. */
    @VirtualObject("quiet")
    public static final class Quiet {
        /** Gives what the store refuses. */
        @Handler
        public String end(ObjectContext ctx) {
            return "poison";
        }
    }

    /** Refuses ends with the word "poison", as a store does with data that it cannot hold. */
    private List<Outcome> apply(Lane lane, List<Change> changes) {
        return changes.stream()
                .map(change -> isPoison(change)
                        ? new Outcome.Refused(REASON)
                        : rows.ledger().apply(lane, List.of(change)).getFirst())
                .toList();
    }

    private static boolean isPoison(Change change) {
        return change instanceof Change.Advance advance
                && advance.move() instanceof Move.End end
                && new String(end.outcome().bytes(), StandardCharsets.UTF_8).contains("poison");
    }

    private Perdure engine(Store store, Object registration) {
        Perdure engine = Perdure.on(store)
                .retry(RetryPolicy.none())
                .lease(Duration.ofSeconds(1))
                .closeTimeout(Duration.ofSeconds(1))
                .listener(change -> {
                    if (change.state() == RunState.PAUSED) {
                        paused.complete(change.reason().orElseThrow());
                    }
                })
                .register(DAG, OTHER, registration)
                .start();
        engine.start(Invocation.of(OTHER, "x"), StartOptions.id("g/a")).result();
        return engine;
    }

    private static Definition<String, String> flow(WorkflowBody<String, String> afterwards) {
        return Definition.of("flow", String.class, String.class, (ctx, in) -> {
            ctx.startChild(Invocation.of(DAG, "x"), ChildOptions.childId("g"));
            return afterwards.run(ctx, in);
        });
    }

    private void assertPaused(Run<?> run, String why) throws Exception {
        assertThat(paused.get(8, TimeUnit.SECONDS)).isEqualTo(why + REASON);
        assertThat(run.state()).isEqualTo(RunState.PAUSED);
    }

    @Test
    void a_run_whose_end_is_refused_is_paused() throws Exception {
        Definition<String, String> flow = flow((ctx, in) -> "begun");
        try (Perdure engine = engine(rows, flow)) {
            assertPaused(engine.start(Invocation.of(flow, "x")), "The store refused its outcome: ");
        }
    }

    @Test
    void a_call_of_an_object_whose_end_is_refused_is_paused() throws Exception {
        Ledger ledger = this::apply;
        try (Perdure engine = engine(Stores.with(rows, "ledger", ledger), new Quiet())) {
            Run<String> call = engine.object(Quiet.class, "a").send(Quiet::end, StartOptions.defaults());
            assertPaused(call, "The store refused its outcome: ");
        }
    }

    @Test
    void a_run_that_the_store_refuses_to_begin_anew_is_paused() throws Exception {
        Definition<String, String> flow = flow((ctx, in) -> {
            throw ctx.continueAsNew("again");
        });
        try (Perdure engine = engine(rows, flow)) {
            assertPaused(engine.start(Invocation.of(flow, "x")), "The store refused to begin it anew: ");
        }
    }

    @Test
    void a_run_that_is_paused_with_entries_that_are_refused_is_paused_without_them() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        AtomicBoolean signalled = new AtomicBoolean();
        CountDownLatch passedOn = new CountDownLatch(1);
        Dispatch dispatch = poll -> {
            if (signalled.get()) { // by the poll before, of which all was passed on
                passedOn.countDown();
            }
            Dispatch.Polled polled = rows.dispatch().poll(poll);
            if (!polled.signalled().isEmpty()) {
                signalled.set(true);
            }
            return polled;
        };
        Definition<String, String> flow = flow((ctx, in) -> {
            begun.countDown();
            passedOn.await();
            return ctx.step("later", () -> "end");
        });
        try (Perdure engine = engine(Stores.with(rows, "dispatch", dispatch), flow)) {
            Run<String> run = engine.start(Invocation.of(flow, "x"));
            begun.await();
            run.pause("hold on");
            assertPaused(run, "The store refused an entry: ");
        }
    }
}
