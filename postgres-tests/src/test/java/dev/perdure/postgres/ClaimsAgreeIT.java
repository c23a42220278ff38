package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.queue.Placement;
import dev.perdure.queue.Queue;
import dev.perdure.queue.Requirement;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Dispatch.Version;
import dev.perdure.spi.Leases.Joining;
import dev.perdure.spi.QueueRules.Order;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The shorter statement that claims from queues with limits leaves the same rows behind, and takes the same runs, as
 * the longer one.
 *
 * <p>How it works: two stores on two schemas are told the same at the same times. One takes the shorter statement where
 * it may, the other never does. After every step all rows of all tables are compared, whatever columns they have.
 */
final class ClaimsAgreeIT {
    private static final int HISTORIES = 2;
    private static final int MORE_HISTORIES = Integer.getInteger("claims.histories", 8);
    private static final int STEPS = 60;
    private static final Instant BEGINNING = Instant.parse("2026-01-01T00:00:00Z");
    private static final WorkerId OTHER = new WorkerId(new UUID(0, 2));
    private static final List<String> QUEUES = List.of("narrow", "wide", "keyed", "free");

    private static final AtomicReference<Instant> NOW = new AtomicReference<>(BEGINNING);
    private static HikariDataSource pool;
    private static Twin shorter;
    private static Twin longer;
    private static long claimed;

    @BeforeAll
    static void open() {
        pool = TestServer.pool(8);
        shorter = new Twin(pool, TestServer.newSchema(), NOW::get, true);
        longer = new Twin(pool, TestServer.newSchema(), NOW::get, false);
    }

    @AfterAll
    static void close() {
        assertThat(claimed).as("claimed runs").isPositive();
        shorter.store.close();
        longer.store.close();
        pool.close();
    }

    static List<Long> seeds() {
        Long only = Long.getLong("claims.seed");
        return only == null ? LongStream.rangeClosed(1, HISTORIES).boxed().toList() : List.of(only);
    }

    static LongStream moreSeeds() {
        return LongStream.rangeClosed(HISTORIES + 1, MORE_HISTORIES);
    }

    /** What both stores are told, and the words for it. */
    private record Step(String label, Function<Twin, List<String>> play) {}

    @ParameterizedTest
    @MethodSource("seeds")
    void every_column_of_every_table_is_the_same(long seed) {
        play(seed);
    }

    @ParameterizedTest
    @MethodSource("moreSeeds")
    @Tag("thorough")
    void every_column_of_every_table_is_the_same_in_more_histories(long seed) {
        play(seed);
    }

    private static void play(long seed) {
        NOW.set(BEGINNING);
        History history = new History(new Random(seed));
        for (Twin twin : List.of(shorter, longer)) {
            twin.empty();
            twin.store.leases().join(new Joining(OTHER, Set.of("order"), null, Duration.ofMinutes(10), 2));
        }
        List<String> told = new ArrayList<>();
        for (int i = 0; i < STEPS; i++) {
            NOW.updateAndGet(now -> now.plus(Duration.ofMillis(400)));
            Step step = i == 0 ? history.declare() : history.next(shorter.runs());
            told.add(step.label());
            String by = "seed %d, step %d of%n%s%n".formatted(seed, i, String.join("\n", told));
            List<String> answer = step.play().apply(shorter);
            assertThat(answer).as("answers, %s", by).isEqualTo(step.play().apply(longer));
            assertThat(shorter.rows()).as("rows, %s", by).isEqualTo(longer.rows());
            claimed += step.label().startsWith("poll") ? answer.size() : 0;
        }
    }

    /** Random steps over whatever runs there are. */
    private static final class History {
        private final Random random;
        private int born;

        History(Random random) {
            this.random = random;
        }

        Step declare() {
            List<Queue> queues = List.of(
                    limits("narrow").concurrency(1 + random.nextInt(3)),
                    limits("wide").concurrency(4 + random.nextInt(3)).perWorker(1 + random.nextInt(4)),
                    limits("keyed").perKey(1 + random.nextInt(2)));
            return new Step("declare " + queues, twin -> {
                twin.store.queues().declare(queues);
                return List.of();
            });
        }

        private Queue limits(String name) {
            Queue queue = Queue.named(name);
            queue = random.nextInt(4) == 0 ? queue.perWorker(2 + random.nextInt(3)) : queue;
            return random.nextBoolean() ? queue.counting(Queue.Counting.AT_WORK) : queue;
        }

        Step next(List<Twin.Row> runs) {
            List<Twin.Row> held = runs.stream().filter(Twin.Row::held).toList();
            return switch (random.nextInt(12)) {
                case 0, 1, 2 -> start();
                case 3, 4, 5, 6 -> poll();
                case 7, 8, 9 -> held.isEmpty() ? start() : advance(held.get(random.nextInt(held.size())));
                case 10 -> runs.isEmpty() ? start() : command(runs.get(random.nextInt(runs.size())));
                default -> operate();
            };
        }

        private Step start() {
            String queue = QUEUES.get(random.nextInt(QUEUES.size()));
            // Runs with keys are few, so that most claims have the choice between both statements.
            String key = queue.equals("keyed") && random.nextInt(3) == 0 ? "key-" + random.nextInt(3) : null;
            List<Change> starts = new ArrayList<>();
            for (int i = random.nextInt(4); i >= 0; i--) {
                Duration delay = random.nextInt(5) == 0 ? Duration.ofSeconds(1) : null;
                NewRun run = new NewRun(
                                RunId.of("run-" + born++),
                                "order",
                                Payload.EMPTY,
                                born,
                                queue,
                                random.nextInt(3),
                                null,
                                null,
                                delay,
                                null)
                        .withQueueKey(key)
                        .at(placement());
                starts.add(new Change.Start(run, null));
            }
            return new Step("start " + starts, twin -> apply(twin, Lane.client(0), starts));
        }

        private Placement placement() {
            return switch (random.nextInt(8)) {
                case 0 -> Placement.ANYWHERE.requiring(Requirement.of("gpu=true"));
                case 1 -> Placement.ANYWHERE.preferring(Requirement.of("region=eu"));
                default -> Placement.ANYWHERE;
            };
        }

        private Step poll() {
            WorkerId worker = random.nextBoolean() ? Twin.WORKER : OTHER;
            Map<String, String> labels = worker.equals(OTHER) ? Map.of() : Map.of("gpu", "true");
            int limit = random.nextInt(8);
            boolean alone = random.nextBoolean();
            return new Step(
                    "poll %s %d %s".formatted(worker, limit, alone),
                    twin -> twin
                            .store
                            .dispatch()
                            .poll(new Poll(
                                    worker,
                                    Set.of("order"),
                                    Set.copyOf(QUEUES),
                                    Version.of(null),
                                    limit,
                                    alone,
                                    labels))
                            .claimed()
                            .stream()
                            .map(Twin::word)
                            .toList());
        }

        private Step advance(Twin.Row run) {
            Move move = switch (random.nextInt(7)) {
                case 0 -> new Move.Wait(RunState.SUSPENDED, new Due.In(Duration.ofSeconds(1)), 0);
                case 1 -> new Move.Wait(RunState.BACKING_OFF, new Due.In(Duration.ofMillis(100)), 0);
                case 2 -> new Move.Yield();
                case 3 -> new Move.Pause("a pause", 0);
                case 4 -> new Move.Recover("a crash");
                default -> new Move.End(RunState.COMPLETED, Payload.EMPTY, "");
            };
            return new Step("advance %s %s".formatted(run.id(), move), twin -> {
                Twin.Row here = twin.run(run.id());
                RunRef ref = new RunRef(RunId.of(here.id()), here.key());
                List<String> told = new ArrayList<>();
                for (WorkerId worker : List.of(Twin.WORKER, OTHER)) { // one of them holds it
                    told.addAll(apply(
                            twin,
                            new Lane(worker, 0),
                            List.of(new Change.Advance(ref, here.epoch(), List.of(), move))));
                }
                return told;
            });
        }

        private Step command(Twin.Row run) {
            CommandKind kind = List.of(CommandKind.CANCEL, CommandKind.KILL, CommandKind.PAUSE, CommandKind.RESUME)
                    .get(random.nextInt(4));
            Change command = new Change.Command(RunId.of(run.id()), kind, "an operator");
            return new Step(command.toString(), twin -> apply(twin, Lane.client(0), List.of(command)));
        }

        private Step operate() {
            String queue = List.of("narrow", "wide", "keyed").get(random.nextInt(3));
            Order order = switch (random.nextInt(4)) {
                case 0 -> new Order.Limit(limits(queue).concurrency(1 + random.nextInt(5)));
                case 1 -> new Order.Pause(queue, "not now");
                case 2 -> new Order.Resume(queue);
                default -> new Order.Reset(queue);
            };
            return new Step(
                    order.toString(),
                    twin -> List.of(String.valueOf(twin.store.queues().apply(order))));
        }

        private static List<String> apply(Twin twin, Lane lane, List<Change> changes) {
            return twin.store.ledger().apply(lane, changes).stream()
                    .map(Twin::word)
                    .toList();
        }
    }
}
