package dev.perdure.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.http.HttpApi;
import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.postgres.PostgresStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How many statements 200 open pages send to the database: counted, so that it is the same on a busy machine. */
class PageStatementsIT {
    private static final int PAGES = 200;
    private static final Duration PERIOD = Duration.ofMillis(100);
    private static final int PERIODS = 5;

    /**
     * In a period: the mark, 30 statements for all overviews, 4 for all lists, and 4 or 10 for each of two or three runs
     * whose turn it is; and some of the engine itself. Fifty runs that take no turns would send 350.
     */
    private static final int MOST = 80;

    private final AtomicInteger told = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();

    @Test
    @Tag("thorough")
    @SuppressWarnings("try") // closes the pages before the API, so that their streams end
    void two_hundred_open_pages_send_no_more_than_ten() throws Exception {
        CountedStatements counted = new CountedStatements();
        try (SharedPostgres.Fresh database = SharedPostgres.database("pages");
                HikariDataSource pool = pool(database);
                PostgresStore store = PostgresStore.on(counted.of(pool)).open();
                Perdure perdure = Perdure.on(store).register(new TestShop()).start();
                DashboardPages pages = DashboardPages.of(perdure, "/", HttpApi.DEFAULT_PREFIX, PERIOD);
                HttpApi api =
                        HttpApi.on(perdure).pages(pages).sharing(pages::changes).build()) {
            PageRequests.startRuns(perdure, PAGES);
            List<Thread> open = new ArrayList<>();
            for (int i = 0; i < PAGES; i++) {
                List<ApiRequest> requests = PageRequests.of(i);
                open.add(Thread.ofVirtual().start(() -> follow(api, requests)));
            }
            perdure.start(TestShop::oneStep, "x").result(); // something changes
            await().until(() -> told.get() >= PAGES);

            long sentBefore = counted.sent();
            long changesBefore = pages.changes();
            await().pollInterval(PERIOD).until(() -> {
                perdure.start(TestShop::oneStep, "x").result();
                return pages.changes() >= changesBefore + PERIODS;
            });
            long sent = counted.sent() - sentBefore;
            long periods = pages.changes() - changesBefore;

            pages.close();
            for (Thread page : open) {
                page.join();
            }
            assertThat(failed.get()).isZero();
            assertThat(sent / periods).isLessThan(MOST);
        }
    }

    private static HikariDataSource pool(SharedPostgres.Fresh database) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.jdbcUrl());
        config.setUsername(database.user());
        config.setPassword(database.password());
        return new HikariDataSource(config);
    }

    private void follow(HttpApi api, List<ApiRequest> requests) {
        ApiRequest live = ApiRequest.of("GET", "/live").with("Host", "localhost");
        ApiResponse.Stream stream = (ApiResponse.Stream) api.handle(live).content();
        try {
            stream.source().writeTo(part -> {
                if (new String(part, StandardCharsets.UTF_8).startsWith("event: changed")) {
                    requests.forEach(request -> {
                        if (api.handle(request).status() != 200) {
                            failed.incrementAndGet();
                        }
                    });
                    told.incrementAndGet();
                }
            });
        } catch (IOException | InterruptedException ended) {
            failed.incrementAndGet();
        }
    }
}
