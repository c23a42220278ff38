package dev.perdure.testing.scenarios;

import static dev.perdure.ChildOptions.childId;
import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Awakeable;
import dev.perdure.Child;
import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.error.PerdureException;
import dev.perdure.error.StepFailedException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Leases;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Checks that this version replays journals of older versions. */
class GoldenJournalTest {
    public record Payment(String id, int cents) {}

    private static final WorkerId OLD_WORKER = new WorkerId(new UUID(0, 1));
    private static final Lane LANE = new Lane(OLD_WORKER, 0);

    /** A store with a run that an older worker has left with this journal. */
    private static Store storeWith(Clockwork clockwork, String definition, List<Entry> journal) {
        MemoryStore store = new MemoryStore(clockwork);
        store.leases().join(new Leases.Joining(OLD_WORKER, Set.of(definition), null, Duration.ofSeconds(10), 1));
        NewRun run = new NewRun(RunId.of("golden"), definition, payload("\"book\""), 42, "default", 0, null, null);
        Outcome.Started started = (Outcome.Started) store.ledger()
                .apply(LANE, List.of(new Change.Start(run, OLD_WORKER)))
                .getFirst();
        Change left = new Change.Advance(started.run(), Outcome.Started.FIRST_EPOCH, journal, new Move.Yield());
        assertThat(store.ledger().apply(LANE, List.of(left)).getFirst()).isInstanceOf(Outcome.Applied.class);
        store.leases().leave(OLD_WORKER);
        return store;
    }

    private static Payload payload(String json) {
        return new Payload(json.getBytes(StandardCharsets.UTF_8));
    }

    private static List<Entry> journal(String name) {
        try (InputStream file = GoldenJournalTest.class.getResourceAsStream("/golden/" + name)) {
            String text = new String(file.readAllBytes(), StandardCharsets.UTF_8);
            return text.lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(line -> line.split("\\|", 6))
                    .map(part -> new Entry(
                            Integer.parseInt(part[0]),
                            Integer.parseInt(part[1]),
                            Entry.Kind.valueOf(part[2]),
                            part[4],
                            Entry.Status.valueOf(part[3]),
                            payload(part[5])))
                    .toList();
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_journal_of_version_0_1_replays_and_its_run_goes_on(TestMode mode) {
        List<String> bodies = new CopyOnWriteArrayList<>();
        Definition<String, String> order = Definition.of("order", String.class, String.class, (ctx, item) -> {
            String at = ctx.now().toString();
            Payment payment = ctx.step("charge", () -> {
                bodies.add("charge");
                return new Payment("PAY-2", 1);
            });
            String uuid = ctx.uuid().toString();
            String tracking = ctx.step("ship", () -> {
                bodies.add("ship");
                return "TRACK-2";
            });
            String problem = "";
            try {
                ctx.step("invoice", () -> bodies.add("invoice"), retry(2));
            } catch (StepFailedException failed) {
                problem = failed.getMessage() + " / " + failed.getCause().getCause();
            }
            boolean mailFirst = ctx.patched("mail-first");
            // Recorded as begun just now: the sent mail shows that the run has passed it.
            ctx.sleep(Duration.ofDays(1));
            ctx.step("mail", () -> bodies.add("mail"));
            ctx.step("close", () -> bodies.add("close"));
            return String.join(
                    ", ",
                    item,
                    at,
                    payment.toString(),
                    uuid,
                    tracking,
                    problem,
                    "" + mailFirst,
                    ctx.now().toString());
        });
        List<Entry> journal = journal("order-1.journal");
        try (PerdureTest perdure = PerdureTest.on(clockwork -> storeWith(clockwork, "order", journal), mode)) {
            perdure.register(order);
            perdure.settle();
            assertThat(perdure.run(RunId.of("golden"), TypeRef.of(String.class)).result())
                    .isEqualTo("book, 2029-12-31T23:00:00Z, Payment[id=PAY-1, cents=1999], "
                            + "07159320-b382-85c1-b4cc-b9c1e9edee2f, TRACK-1, "
                            + "Step 'invoice' failed after 2 attempts: java.lang.IllegalStateException: no printer / "
                            + "java.io.IOException, true, 2030-01-01T00:00:00Z");
            assertThat(bodies).containsExactly("close");
        }
    }

    private static String problemOf(DurableFuture<?> future) {
        try {
            return "" + future.await();
        } catch (PerdureException problem) {
            return problem.getClass().getSimpleName() + " " + problem.getMessage();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_journal_of_version_0_1_of_a_run_that_talks_replays_and_its_run_goes_on(TestMode mode) {
        List<String> bodies = new CopyOnWriteArrayList<>();
        Topic<String> news = Topic.of("news", String.class);
        Topic<String> go = Topic.of("go", String.class);
        Topic<String> paid = Topic.of("paid", String.class);
        RunId other = RunId.of("other");
        Definition<String, String> child = Definition.of("child", String.class, String.class, (ctx, in) -> in);
        Definition<String, String> talk = Definition.of("talk", String.class, String.class, (ctx, item) -> {
            DurableFuture<String> a = ctx.stepAsync("a", () -> "" + bodies.add("a"));
            DurableFuture<String> b = ctx.stepAsync("b", () -> "" + bodies.add("b"));
            int first = DurableFuture.any(a, b).await();
            DurableFuture<?> timer = ctx.timer(Duration.ofHours(1));
            String received = ctx.receive(news).await();
            Child<String> worked = ctx.startChild(Invocation.of(child, item));
            Child<String> broken = ctx.startChild(Invocation.of(child, item), childId("chosen"));
            String children = worked.id() + " " + problemOf(worked) + ", " + problemOf(broken);
            String promised = problemOf(ctx.promise(go));
            Awakeable<String> awakeable = ctx.awakeable(String.class);
            String woken = awakeable.token() + " " + awakeable.await();
            String event = ctx.event(paid.key("7")).await();
            ctx.send(other, news, "again");
            ctx.publish(news, "again");
            ctx.promise(other, go).resolve("again");
            ctx.promise(RunId.of("third"), go).reject("again");
            int reached = ctx.emit(paid.key("7"), "again");
            RunId spawned = ctx.spawn(Invocation.of(child, item), id("not started again"));
            String cancelled = problemOf(timer);
            ctx.step("undo", () -> bodies.add("undo"));
            ctx.step("close", () -> bodies.add("close"));
            return String.join(
                    "\n", first + received, children, promised, woken, event + reached, spawned + "", cancelled);
        });
        List<Entry> journal = journal("talk-1.journal");
        try (PerdureTest perdure = PerdureTest.on(clockwork -> storeWith(clockwork, "talk", journal), mode)) {
            perdure.register(talk, child);
            perdure.settle();
            Run<String> run = perdure.run(RunId.of("golden"), TypeRef.of(String.class));
            assertThat(run.result()).isEqualTo("""
                0extra
                golden/8-0123456789ab worked, RunFailedException Child 'chosen' is FAILED: java.lang.IllegalStateException: broken
                RejectedException not today
                awk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA woken
                paid3
                spawned
                CancelledException stop\
                """);
            assertThat(bodies).containsExactly("close");
            assertThat(run.published(news)).isEmpty();
            assertThat(perdure.runs(RunFilter.all()).list()).hasSize(1);
        }
    }
}
