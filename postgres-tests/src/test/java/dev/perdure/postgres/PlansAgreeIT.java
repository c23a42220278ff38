package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunState;
import dev.perdure.spi.Lifecycle;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The plans that believe something leave the same rows behind, and give the same outcomes, as the plan that looks
 * everything up.
 *
 * <p>How it works: two stores on two schemas get the same random batches at the same times. One is left free to choose
 * its plans, the other looks everything up. After every batch all rows of all tables are compared, whatever columns
 * they have.
 */
final class PlansAgreeIT {
    private static final int HISTORIES = 2;
    private static final int MORE_HISTORIES = Integer.getInteger("plans.histories", 6);
    private static final int BATCHES = 40;
    private static final Instant BEGINNING = Instant.parse("2026-01-01T00:00:00Z");

    private static final AtomicReference<Instant> NOW = new AtomicReference<>(BEGINNING);
    private static HikariDataSource pool;
    private static Twin free;
    private static Twin careful;

    @BeforeAll
    static void open() {
        pool = TestServer.pool(8);
        free = new Twin(pool, TestServer.newSchema(), NOW::get, true);
        careful = new Twin(pool, TestServer.newSchema(), NOW::get, false);
    }

    @AfterAll
    static void close() {
        assertThat(careful.plans().believed() + careful.plans().wrong()).isZero();
        assertThat(free.plans().believed())
                .as("plans that believed and were right")
                .isPositive();
        assertThat(free.plans().wrong())
                .as("plans that believed and were wrong")
                .isPositive();
        free.store.close();
        careful.store.close();
        pool.close();
    }

    static List<Long> seeds() {
        Long only = Long.getLong("plans.seed");
        return only == null ? LongStream.rangeClosed(1, HISTORIES).boxed().toList() : List.of(only);
    }

    static LongStream moreSeeds() {
        return LongStream.rangeClosed(HISTORIES + 1, MORE_HISTORIES);
    }

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
        free.empty();
        careful.empty();
        RandomBatches batches = new RandomBatches(new Random(seed));
        List<String> history = new ArrayList<>();
        for (int i = 0; i < BATCHES; i++) {
            NOW.updateAndGet(now -> now.plus(Duration.ofMillis(700)));
            RandomBatches.Round round = batches.next(free.runs());
            history.add(round.toString());
            String by = "seed %d, batch %d of%n%s%n".formatted(seed, i, String.join("\n", history));
            assertThat(free.play(round)).as("outcomes, %s", by).isEqualTo(careful.play(round));
            assertSame(free.rows(), careful.rows(), by);
            assertLegal(free.moves(), by);
        }
    }

    private static void assertSame(List<String> left, List<String> right, String by) {
        List<String> only = new ArrayList<>(left);
        List<String> other = new ArrayList<>(right);
        right.forEach(only::remove);
        left.forEach(other::remove);
        assertThat(only).as("rows of the plans that believe, %s", by).isEqualTo(other);
    }

    /** Every state that a run has left is followed by one that the lifecycle allows. */
    private static void assertLegal(List<List<RunState>> lives, String by) {
        for (List<RunState> states : lives) {
            for (int i = 1; i < states.size(); i++) {
                assertThat(Lifecycle.next(states.get(i - 1)))
                        .as("%s in %s", states, by)
                        .contains(states.get(i));
            }
        }
    }
}
