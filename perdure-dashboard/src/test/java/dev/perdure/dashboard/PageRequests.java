package dev.perdure.dashboard;

import static org.awaitility.Awaitility.await;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.http.HttpApi;
import dev.perdure.http.exchange.ApiRequest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * What open pages read when they are told of a change: half of the pages are overviews, a quarter are lists, and a
 * quarter are runs, each another one. Half of these sleep, so that nothing but the run is read again; the others wait for
 * an awakeable.
 */
final class PageRequests {
    private PageRequests() {}

    /** As pages do, all ask for a span that ends at the same time. */
    private static final String SPAN = "from=%s&to=%s"
            .formatted(Instant.now().minusSeconds(300), Instant.now().plusSeconds(300));

    private static final List<ApiRequest> OVERVIEW = List.of(
            read("/status", 30),
            read("/runs/count", 30),
            read("/queues", 5),
            read("/workers", 5),
            read("/statistics/rates?seconds=300", 5),
            read("/statistics/waits?" + SPAN, 30),
            read("/statistics/definitions", 30),
            read("/statistics/failures?created_from=" + Instant.now().minusSeconds(300), 30),
            read("/runs?state=FAILED&state=BACKING_OFF&state=PAUSED&limit=12", 5));

    private static final List<ApiRequest> LIST = List.of(read("/runs?limit=50", 5), read("/runs/count", 30));

    /** What this page reads. */
    static List<ApiRequest> of(int page) {
        return switch (page % 4) {
            case 0, 1 -> OVERVIEW;
            case 2 -> LIST;
            default -> {
                String run = "/runs/waiting-" + page;
                yield sleeps(page)
                        ? List.of(read(run, 0))
                        : List.of(
                                read(run, 0),
                                read(run + "/history?limit=1000", 0),
                                read(run + "/children?limit=1000", 0));
            }
        };
    }

    private static boolean sleeps(int page) {
        return page % 8 == 3;
    }

    /** Starts the runs that pages show, and waits until they wait. */
    static void startRuns(Perdure perdure, int pages) {
        List<Run<?>> runs = new ArrayList<>();
        for (int page = 3; page < pages; page += 4) {
            StartOptions options = StartOptions.id("waiting-" + page);
            runs.add(
                    sleeps(page)
                            ? perdure.start(TestShop::sleeper, "x", options)
                            : perdure.start(TestShop::approval, "x", options));
        }
        await().until(() -> runs.stream().allMatch(run -> run.state() == RunState.SUSPENDED));
    }

    private static ApiRequest read(String target, int seconds) {
        return ApiRequest.of("GET", HttpApi.DEFAULT_PREFIX + target)
                .with("Host", "localhost")
                .with("Cache-Control", "max-age=" + seconds);
    }
}
