package dev.perdure.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.postgres.PostgresStore;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What 200 people who look cost the engine while it runs one-step workflows as fast as it can (w1 of the benchmarks).
 *
 * <p>The promise is about the rate of the workflows. But the rate of a round of some seconds depends on the disk, on the
 * size of the batches and on what else the machine does: two rounds that do the same differ by up to 20 percent, and so
 * does the processor time of a workflow. So the test counts what the pages use, and does not infer it from what the engine
 * lacks: a process of its own serves them, with its own connections, so that Linux counts its processor time and that of
 * the server on its behalf. The engine cannot use what they use: where the processors are the limit, 5 percent of the
 * processor time that the engine uses at full speed are 5 percent of its rate. What this does not show, such as waits for
 * a lock, the rates would show, which are printed too.
 *
 * <p>Rounds with and without pages alternate, each pair in the other order than the one before. What the serving process
 * uses without pages is taken off, and the median of the pairs counts. The pages themselves are in a third process, as
 * browsers are. The serving process compiles its code once, and not again in the background, which would be counted and
 * ends after some minutes; what it runs is slower for that.
 */
@Tag("thorough")
class ManyPagesIT {
    private static final int CALLERS = 64;
    private static final int CONNECTIONS = 16;
    private static final int PAIRS = Integer.getInteger("perdure.pairs", 11);
    private static final Duration ROUND = Duration.ofSeconds(Integer.getInteger("perdure.round.seconds", 4));
    private static final Duration WARM_UP = Duration.ofSeconds(20);
    private static final Duration SETTLE = Duration.ofSeconds(1);
    private static final double MOST_COST = 0.05;

    /**
     * What happened in a round, in each second.
     *
     * @param rate how many one-step workflows ended
     * @param engine processor time of the engine, and of the server for the engine, in seconds
     * @param serving processor time of the process that serves pages
     * @param asked processor time of the server for that process
     */
    private record Round(double rate, double engine, double serving, double asked) {}

    private record Pair(Round without, Round with) {
        /** The processor time that the pages use in a second. */
        double pages() {
            return with.serving + with.asked - without.serving - without.asked;
        }

        /** How much lower the rate is beside the pages, as a part. */
        double lower() {
            return 1 - with.rate / without.rate;
        }
    }

    private Perdure perdure;
    private ProcessorTime processors;
    private OpenPages pages;
    private OpenPages.Done done = new OpenPages.Done(0, 0);

    @Test
    void two_hundred_open_pages_cost_less_than_5_percent() throws Exception {
        assumeThat(ProcessorTime.isKnown())
                .as("the system counts processor time")
                .isTrue();
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start(EmbeddedPostgres.options());
                HikariDataSource pool =
                        ServingProcess.pool(postgres.jdbcUrl(), postgres.user(), postgres.password(), CONNECTIONS);
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure engine = Perdure.on(store).register(new TestShop()).start();
                ServingProcess serving = ServingProcess.on(postgres);
                OpenPages client = OpenPages.of(serving.address())) {
            perdure = engine;
            pages = client;
            PageRequests.startRuns(perdure, OpenPages.PAGES);
            processors = ProcessorTime.of(postgres.pid(), serving, pool);
            without(WARM_UP); // the JVMs compile
            with(WARM_UP);
            processors = ProcessorTime.of(postgres.pid(), serving, pool); // with all connections
            List<Pair> pairs = new ArrayList<>();
            for (int i = 0; i < PAIRS; i++) {
                pairs.add(pair(i % 2 == 0));
            }
            // What else the machine does can only take processor time from the engine, so its best round counts.
            double most = pairs.stream()
                    .mapToDouble(pair -> pair.without().engine())
                    .max()
                    .orElseThrow();
            double cost = median(pairs, Pair::pages) / most;
            report(pairs, cost);
            assertThat(done.readings()).isGreaterThan(OpenPages.PAGES);
            assertThat(done.failures()).isZero();
            assertThat(cost).isBetween(0.0, MOST_COST);
        }
    }

    private Pair pair(boolean withoutFirst) throws IOException, InterruptedException {
        if (withoutFirst) {
            Round without = without(ROUND);
            return new Pair(without, with(ROUND));
        }
        Round with = with(ROUND);
        return new Pair(without(ROUND), with);
    }

    private Round without(Duration length) throws IOException, InterruptedException {
        round(SETTLE);
        return round(length);
    }

    /** Opens the pages, which costs more than to keep them open, and measures when all have been drawn. */
    private Round with(Duration length) throws IOException, InterruptedException {
        pages.open();
        do {
            round(SETTLE);
        } while (!pages.drawn());
        Round measured = round(length);
        done = done.and(pages.closePages());
        return measured;
    }

    private Round round(Duration length) throws IOException, InterruptedException {
        LongAdder ended = new LongAdder();
        ProcessorTime.Reading before = processors.now();
        long begin = System.nanoTime();
        List<Thread> callers = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            callers.add(Thread.ofVirtual().start(() -> {
                while (System.nanoTime() - begin < length.toNanos()) {
                    perdure.start(TestShop::oneStep, "x").result();
                    ended.increment();
                }
            }));
        }
        for (Thread caller : callers) {
            caller.join();
        }
        double nanos = System.nanoTime() - begin;
        ProcessorTime.Reading after = processors.now();
        return new Round(
                ended.sum() * 1e9 / nanos,
                processors.engine(before, after) / nanos,
                processors.serving(before, after) / nanos,
                processors.asked(before, after) / nanos);
    }

    private void report(List<Pair> pairs, double cost) {
        System.out.printf(
                Locale.ROOT,
                "%d pages use %.1f %% of the processor time that the engine uses at full speed, and %.1f %% fewer one-step workflows end in a second (medians of %d pairs). The pages have read %d times; %d requests failed.%n",
                OpenPages.PAGES,
                100 * cost,
                100 * median(pairs, Pair::lower),
                pairs.size(),
                done.readings(),
                done.failures());
        pairs.forEach(pair -> System.out.printf(
                Locale.ROOT,
                "  without: %s; with: %s; fewer: %.1f %%%n",
                text(pair.without()),
                text(pair.with()),
                100 * pair.lower()));
    }

    private static String text(Round round) {
        return String.format(
                Locale.ROOT,
                "%5.0f a second, engine %.2f s, serving %.3f s, asked %.3f s",
                round.rate(),
                round.engine(),
                round.serving(),
                round.asked());
    }

    private static double median(List<Pair> pairs, ToDoubleFunction<Pair> value) {
        List<Pair> sorted =
                pairs.stream().sorted(Comparator.comparingDouble(value)).toList();
        return value.applyAsDouble(sorted.get(sorted.size() / 2));
    }
}
