package dev.perdure.dashboard;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.postgres.PostgresStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What 200 people who look cost the engine: the rate of one-step workflows (w1 of the benchmarks) with and without
 * their pages. The pages are clients in this process, so what they cost themselves counts too.
 */
@Tag("thorough")
class ManyPagesIT {
    private static final int PAGES = 200;
    private static final int CALLERS = 64;
    private static final int ROUNDS = Integer.getInteger("perdure.rounds", 7);
    private static final Duration ROUND = Duration.ofSeconds(Integer.getInteger("perdure.round.seconds", 10));
    private static final double MOST_COST = 0.05;

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build(); // as browsers do without TLS
    private final LongAdder readings = new LongAdder();
    private final LongAdder failures = new LongAdder();

    @Test
    void two_hundred_open_pages_cost_less_than_5_percent() throws Exception {
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start(EmbeddedPostgres.options());
                HikariDataSource pool = pool(postgres);
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure perdure = Perdure.on(store).register(new TestShop()).start();
                Dashboard dashboard = Dashboard.on(perdure).start()) {
            for (int i = 0; i < PAGES; i++) {
                perdure.start(TestShop::sleeper, "x", id("sleeper-" + i));
            }
            rate(perdure, ROUND); // the JVM warms up
            List<Double> without = new ArrayList<>();
            List<Double> with = new ArrayList<>();
            for (int round = 0; round < ROUNDS; round++) {
                without.add(rate(perdure, ROUND));
                AtomicBoolean open = new AtomicBoolean(true);
                long before = readings.sum();
                List<Thread> pages = open(dashboard, open);
                while (readings.sum() < before + PAGES) { // all have been drawn
                    rate(perdure, Duration.ofSeconds(1));
                }
                with.add(rate(perdure, ROUND));
                open.set(false);
                for (Thread page : pages) {
                    page.interrupt();
                    page.join();
                }
            }
            double cost = 1 - median(with) / median(without);
            System.out.printf(
                    Locale.ROOT,
                    "One-step workflows a second without pages %s, with %d pages %s: they cost %.1f %%. The pages have read %d times; %d requests failed.%n",
                    without,
                    PAGES,
                    with,
                    100 * cost,
                    readings.sum(),
                    failures.sum());
            assertThat(readings.sum()).isGreaterThan(PAGES);
            assertThat(failures.sum()).isZero();
            assertThat(cost).isLessThan(MOST_COST);
        }
    }

    private static double rate(Perdure perdure, Duration length) throws InterruptedException {
        LongAdder done = new LongAdder();
        long begin = System.nanoTime();
        List<Thread> callers = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            callers.add(Thread.ofVirtual().start(() -> {
                while (System.nanoTime() - begin < length.toNanos()) {
                    perdure.start(TestShop::oneStep, "x").result();
                    done.increment();
                }
            }));
        }
        for (Thread caller : callers) {
            caller.join();
        }
        return Math.rint(done.sum() * 1e9 / (System.nanoTime() - begin));
    }

    private static double median(List<Double> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }

    private List<Thread> open(Dashboard dashboard, AtomicBoolean open) {
        List<Thread> pages = new ArrayList<>();
        URI address = dashboard.address().resolve("/");
        for (int i = 0; i < PAGES; i++) {
            List<ApiRequest> requests = PageRequests.of(i);
            pages.add(Thread.ofVirtual().start(() -> follow(address, requests, open)));
        }
        return pages;
    }

    /** A page reads when it is opened, and again whenever it is told that something has changed. */
    private void follow(URI address, List<ApiRequest> requests, AtomicBoolean open) {
        try (Stream<String> lines = client.send(
                        HttpRequest.newBuilder(address.resolve("/live")).build(), BodyHandlers.ofLines())
                .body()) {
            read(address, requests);
            var each = lines.iterator();
            while (open.get() && each.hasNext()) {
                if (each.next().equals("event: changed")) {
                    read(address, requests);
                }
            }
        } catch (IOException | UncheckedIOException closed) {
            if (open.get()) {
                failures.increment();
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    private void read(URI address, List<ApiRequest> requests) throws IOException, InterruptedException {
        for (ApiRequest request : requests) {
            var sent = HttpRequest.newBuilder(address.resolve(request.target()))
                    .header("Cache-Control", request.header("Cache-Control").orElseThrow())
                    .build();
            if (client.send(sent, BodyHandlers.discarding()).statusCode() != 200) {
                failures.increment();
            }
        }
        readings.increment();
    }

    private static HikariDataSource pool(EmbeddedPostgres postgres) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(postgres.jdbcUrl());
        config.setUsername(postgres.user());
        config.setPassword(postgres.password());
        config.setMaximumPoolSize(16);
        return new HikariDataSource(config);
    }
}
