package dev.perdure.http.internal.runs;

import dev.perdure.RunCount;
import dev.perdure.RunFilter;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.json.Shape;
import dev.perdure.http.internal.route.Answers;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Parameter;
import dev.perdure.http.internal.route.Problem;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.internal.show.Paging;
import dev.perdure.http.internal.show.RunView;
import dev.perdure.http.internal.show.Services;
import dev.perdure.spi.statistics.Statistics.Histogram;
import dev.perdure.spi.statistics.Statistics.Span;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Lists and counts runs. */
public final class FindRoutes {
    /** A page of runs. */
    private record Page(List<RunView> runs, Optional<String> next) {}

    /** How many runs are in a state. */
    record InState(RunState state, RunCount count) {
        static final Shape<InState> SHAPE = Shape.<InState>named("StateCount")
                .text("state", "The state.", InState::state)
                .number(
                        "runs",
                        "How many runs, %s at most.".formatted(RunCount.BOUND),
                        in -> in.count().runs())
                .flag("more", "Whether there are more.", in -> in.count().more());

        static List<InState> of(Map<RunState, RunCount> counts) {
            return counts.entrySet().stream()
                    .map(each -> new InState(each.getKey(), each.getValue()))
                    .toList();
        }
    }

    /** A stretch of time with its counts. */
    private record Bar(Instant from, Instant to, Map<RunState, Long> counts) {}

    private static final Shape<Page> PAGE = Shape.<Page>named("RunPage")
            .list("runs", "The runs.", RunView.SHAPE, Page::runs)
            .text("next", Paging.NEXT, Page::next);

    static final Shape<List<InState>> COUNTS = Shape.<List<InState>>named("RunCounts")
            .list("counts", "The states that have runs.", InState.SHAPE, counts -> counts);

    private static final Shape<Map.Entry<RunState, Long>> BAR_COUNT = Shape.<Map.Entry<RunState, Long>>named("BarCount")
            .text("state", "The state.", Map.Entry::getKey)
            .number("runs", "How many runs.", Map.Entry::getValue);

    private static final Shape<Bar> BAR = Shape.<Bar>named("HistogramBar")
            .time("from", "Its first instant.", Bar::from)
            .time("to", "The instant before which it ends.", Bar::to)
            .list(
                    "counts",
                    "The states that have runs in it.",
                    BAR_COUNT,
                    bar -> bar.counts().entrySet());

    /** Runs over time, and what of it was counted. */
    private record Bars(List<Bar> bars, Histogram counted) {}

    private static final Shape<Bars> HISTOGRAM = Shape.<Bars>named("Histogram")
            .list("bars", "Oldest first.", BAR, Bars::bars)
            .flag(
                    "estimated",
                    "Whether there are too many runs to count, so that only a sample was counted and scaled up.",
                    bars -> bars.counted().sampled() < 1)
            .number(
                    "sampled",
                    "Which part of the time was looked at, from 0 to 1.",
                    bars -> bars.counted().sampled())
            .flag(
                    "more",
                    "Whether there are more runs than the bars have.",
                    bars -> bars.counted().more());

    private final Services services;

    /** With these services. */
    public FindRoutes(Services services) {
        this.services = services;
    }

    /** The routes. */
    public List<Route> routes() {
        return List.of(
                Route.get("/runs", "Lists runs, newest first.")
                        .with(Filters.SELECTING)
                        .with(Filters.PAGING)
                        .answers(200, "A page.", PAGE)
                        .does(this::list),
                Route.get("/runs/count", "Counts runs by state.")
                        .with(Filters.SELECTING)
                        .answers(200, "The counts.", COUNTS)
                        .does(call -> Answers.ok(COUNTS.json(InState.of(
                                services.perdure().runs(Filters.selected(call)).count())))),
                Route.get("/runs/histogram", "Counts runs by state over time.")
                        .with(Filters.SELECTING)
                        .with(Parameter.query("by", "'created' or 'ended'. 'created' by default."))
                        .with(SpanOfCall.PARAMETERS)
                        .answers(200, "The bars.", HISTOGRAM)
                        .does(this::histogram));
    }

    private ApiResponse list(Call call) {
        RunFilter filter = Filters.page(call);
        List<RunInfo> runs = services.perdure().runs(filter).list();
        Optional<String> next =
                runs.size() < filter.limit() ? Optional.empty() : Optional.of(Filters.encoded(runs.getLast()));
        return Answers.ok(
                PAGE.json(new Page(runs.stream().map(services.shown()::run).toList(), next)));
    }

    private ApiResponse histogram(Call call) {
        boolean ended = switch (call.query("by").orElse("created")) {
            case "created" -> false;
            case "ended" -> true;
            default -> throw Problem.invalid("The parameter 'by' is neither 'created' nor 'ended'.");
        };
        Span span = SpanOfCall.of(call, ended);
        RunFilter filter = Filters.selected(call);
        services.perdure().runs(filter); // It refuses a filter by an encrypted attribute.
        Histogram counted = services.view().store().statistics().histogram(filter, span);
        List<Bar> all = new ArrayList<>();
        for (int bar = 0; bar < span.bars(); bar++) {
            all.add(new Bar(span.begin(bar), span.begin(bar + 1), counted.bars().get(bar)));
        }
        return Answers.ok(HISTOGRAM.json(new Bars(all, counted)));
    }
}
