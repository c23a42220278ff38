package dev.perdure.http.internal.runs;

import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.json.Shape;
import dev.perdure.http.internal.route.Answers;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.internal.show.Services;
import dev.perdure.spi.statistics.Statistics.Span;
import dev.perdure.spi.statistics.Statistics.Wait;
import dev.perdure.statistics.Durations;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** How long runs are ready until a worker takes them. */
public final class WaitRoutes {
    /** How many runs of each bar are looked at: with 30 bars, as many as other statistics look at. */
    private static final int MOST_OF_BAR = 20;

    /** The waits that began in a bar. */
    private record Bar(Instant from, Instant to, Optional<Durations> took) {}

    private static final Shape<Bar> BAR = Shape.<Bar>named("WaitsOfBar")
            .time("from", "The first instant.", Bar::from)
            .time("to", "The instant before which it ends.", Bar::to)
            .number(
                    "count",
                    "How many waits of the sample began in it.",
                    bar -> bar.took().map(Durations::count).orElse(0))
            .number("p50_ms", "The median in milliseconds.", bar -> bar.took().map(took -> millis(took.p50())))
            .number("max_ms", "The longest.", bar -> bar.took().map(took -> millis(took.longest())));

    private static final Shape<List<Bar>> WAITS =
            Shape.<List<Bar>>named("Waits").list("bars", "Oldest first.", BAR, bars -> bars);

    private final Services services;

    /** With these services. */
    public WaitRoutes(Services services) {
        this.services = services;
    }

    /** The routes. */
    public List<Route> routes() {
        return List.of(Route.get(
                        "/statistics/waits",
                        "Shows how long runs were ready until a worker took them, of the first %s runs that were created in each bar."
                                .formatted(MOST_OF_BAR))
                .with(SpanOfCall.PARAMETERS)
                .answers(200, "The bars.", WAITS)
                .does(this::waits));
    }

    private static double millis(Duration duration) {
        return TimeUnit.NANOSECONDS.toMicros(duration.toNanos()) / 1_000.0;
    }

    private ApiResponse waits(Call call) {
        Span span = SpanOfCall.of(call, false);
        List<Wait> waits = services.view().store().statistics().waits(span, MOST_OF_BAR);
        List<Bar> bars = new ArrayList<>();
        for (int bar = 0; bar < span.bars(); bar++) {
            Instant from = span.begin(bar);
            Instant to = span.begin(bar + 1);
            List<Duration> took = waits.stream()
                    .filter(wait -> !wait.ready().isBefore(from) && wait.ready().isBefore(to))
                    .map(Wait::took)
                    .toList();
            bars.add(new Bar(from, to, Durations.of(took)));
        }
        return Answers.ok(WAITS.json(bars));
    }
}
