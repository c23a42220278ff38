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
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.internal.runs.RateWindow.Window;
import dev.perdure.http.internal.show.Services;
import dev.perdure.http.security.Redaction.Kind;
import dev.perdure.http.security.Redaction.Subject;
import dev.perdure.spi.EngineView.Signature;
import dev.perdure.spi.statistics.Statistics.Second;
import dev.perdure.spi.statistics.Statistics.Seen;
import dev.perdure.statistics.Durations;
import dev.perdure.statistics.Failures;
import dev.perdure.statistics.RunStatistics;
import dev.perdure.statistics.RunStatistics.Sample;
import dev.perdure.statistics.RunStatistics.StepStatistics;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** How runs end, how long they take, what they fail with, and how many there are a second. */
public final class StatisticsRoutes {
    private static final int MOST_RUNS = 5_000;
    /** In how many parts the time is cut for the failures of a definition. */
    private static final int PARTS = 12;

    private static final int DEFAULT_SECONDS = 300;
    private static final int LEAST_SECONDS = 10;

    private static final Shape<Durations> DURATIONS = Shape.<Durations>named("Durations")
            .number("count", "How many were measured.", Durations::count)
            .number("p50_ms", "The median in milliseconds.", durations -> millis(durations.p50()))
            .number("p95_ms", "The 95th percentile.", durations -> millis(durations.p95()))
            .number("p99_ms", "The 99th percentile.", durations -> millis(durations.p99()))
            .number("max_ms", "The longest.", durations -> millis(durations.longest()))
            .number("total_ms", "The sum of all.", durations -> millis(durations.total()));

    private static final Shape<StepStatistics> STEP = Shape.<StepStatistics>named("StepStatistics")
            .text("name", "The name of the steps.", StepStatistics::name)
            .number("failed", "How many of them failed finally.", StepStatistics::failed)
            .object(
                    "durations",
                    "How long they took, each from what its run recorded before it.",
                    DURATIONS,
                    step -> Optional.of(step.durations()));

    private static final Shape<Sample> SAMPLE = Shape.<Sample>named("RunSample")
            .number("runs", "How many runs, %s at most.".formatted(RunStatistics.MOST_RUNS), Sample::runs)
            .time("since", "When the oldest of them was created.", Sample::since)
            .flag("more", "Whether there are more.", Sample::more);

    /** Statistics with exact counts. */
    private record Whole(Map<RunState, RunCount> counts, RunStatistics statistics) {
        int ended(RunState state) {
            return statistics.ended().getOrDefault(state, 0);
        }
    }

    private static final Shape<Whole> STATISTICS = Shape.<Whole>named("RunStatistics")
            .list(
                    "counts",
                    "All runs, by state.",
                    FindRoutes.InState.SHAPE,
                    whole -> FindRoutes.InState.of(whole.counts()))
            .object(
                    "sample",
                    "The newest runs of the last 24 hours that have ended. All that follows is about them.",
                    SAMPLE,
                    whole -> Optional.of(whole.statistics().sample()))
            .number("completed", "How many completed.", whole -> whole.ended(RunState.COMPLETED))
            .number("failed", "How many failed.", whole -> whole.ended(RunState.FAILED))
            .number("cancelled", "How many were cancelled.", whole -> whole.ended(RunState.CANCELLED))
            .number(
                    "success_rate",
                    "Which part of those that completed or failed completed, from 0 to 1.",
                    whole -> present(whole.statistics().successRate()))
            .object(
                    "durations",
                    "How long they took from start to end.",
                    DURATIONS,
                    whole -> whole.statistics().durations())
            .list(
                    "steps",
                    "The steps of the newest %s of them by name, those with the most time first."
                            .formatted(RunStatistics.RUNS_WITH_STEPS),
                    STEP,
                    whole -> whole.statistics().steps());

    private static final Shape<Failures.Group> GROUP = Shape.<Failures.Group>named("FailureGroup")
            .text(
                    "type",
                    "The class of the exception, or of its innermost cause; empty if the reason names none.",
                    Failures.Group::type)
            .text("message", "Its message, with # in the place of words that have a digit.", Failures.Group::message)
            .text(
                    "step",
                    "The step that failed in the newest of them; missing if it failed outside of its steps.",
                    Failures.Group::step)
            .number("runs", "How many runs.", Failures.Group::runs)
            .time("first_at", "When the first of them failed.", Failures.Group::first)
            .time("last_at", "When the last of them failed.", Failures.Group::last)
            .text("latest", "The id of the newest of them.", Failures.Group::latest)
            .text("example", "The whole reason of that run.", Failures.Group::example);

    private static final Shape<Failures> FAILURES = Shape.<Failures>named("Failures")
            .number("looked", "At how many runs the store has looked: the newest.", Failures::looked)
            .flag("more", "Whether there are more.", Failures::more)
            .list("failures", "Those with the most runs first.", GROUP, Failures::groups);

    /** How many of the runs that were started in a part of the time failed. */
    private record FailedPart(int part, long runs) {}

    private static final Shape<FailedPart> FAILED_PART = Shape.<FailedPart>named("FailedPart")
            .number("part", "Which part, from 0 to %s.".formatted(PARTS - 1), FailedPart::part)
            .number("runs", "How many runs that were started in it failed.", FailedPart::runs);

    /** The newest runs of a definition. */
    private record DefinitionView(
            String name,
            boolean registered,
            long workers,
            Map<RunState, Integer> states,
            List<FailedPart> failures,
            Optional<Durations> took) {
        int in(RunState state) {
            return states.getOrDefault(state, 0);
        }

        int runs() {
            return states.values().stream().mapToInt(Integer::intValue).sum();
        }

        int live() {
            return states.entrySet().stream()
                    .filter(each -> !each.getKey().isTerminal())
                    .mapToInt(Map.Entry::getValue)
                    .sum();
        }
    }

    private static final Shape<DefinitionView> DEFINITION = Shape.<DefinitionView>named("DefinitionStatistics")
            .text("name", "Its name.", DefinitionView::name)
            .flag("registered", "Whether this process has registered it.", DefinitionView::registered)
            .number("workers", "How many live workers have registered it.", DefinitionView::workers)
            .number("runs", "How many of the runs are runs of it.", DefinitionView::runs)
            .number("live", "How many of these have not ended.", DefinitionView::live)
            .number("running", "How many of these a worker runs.", view -> view.in(RunState.RUNNING))
            .number("paused", "How many of these are paused.", view -> view.in(RunState.PAUSED))
            .number("completed", "How many completed.", view -> view.in(RunState.COMPLETED))
            .number("failed", "How many failed.", view -> view.in(RunState.FAILED))
            .number("cancelled", "How many were cancelled.", view -> view.in(RunState.CANCELLED))
            .number(
                    "success_rate",
                    "Which part of those that completed or failed completed, from 0 to 1.",
                    view -> present(RunStatistics.successRate(view.states())))
            .list(
                    "failures",
                    "When those were started that failed: the time since the oldest run in %s parts, without parts that have none."
                            .formatted(PARTS),
                    FAILED_PART,
                    DefinitionView::failures)
            .object("durations", "How long those took that have ended.", DURATIONS, DefinitionView::took);

    /** The newest runs by definition. */
    private record Definitions(Sample sample, List<DefinitionView> definitions) {}

    private static final Shape<Definitions> DEFINITIONS = Shape.<Definitions>named("DefinitionsStatistics")
            .number(
                    "looked",
                    "At how many runs the store has looked: the newest of the last 24 hours, %s at most."
                            .formatted(MOST_RUNS),
                    all -> all.sample().runs())
            .time(
                    "since",
                    "When the oldest of them was created.",
                    all -> all.sample().since())
            .flag("more", "Whether there are more.", all -> all.sample().more())
            .list("definitions", "By name.", DEFINITION, Definitions::definitions);

    private static final Shape<Second> SECOND = Shape.<Second>named("RatesOfSecond")
            .time("at", "When the second begins.", Second::begin)
            .number("started", "How many runs were started.", Second::started)
            .number("ended", "How many runs ended.", Second::ended)
            .number("failed", "How many of these failed.", Second::failed);

    private static final Shape<Window> RATES = Shape.<Window>named("Rates")
            .time(
                    "from",
                    "When the first second begins. Later than asked for if too many runs were started.",
                    Window::from)
            .time("to", "When the last second ends.", Window::to)
            .flag("more", "Whether more runs may have ended, which were started long before.", Window::more)
            .list(
                    "seconds",
                    "Every second, oldest first, without those in which more runs were started than the store looks at.",
                    SECOND,
                    Window::seconds);

    private final Services services;
    private final RateWindow window;

    /** With these services. */
    public StatisticsRoutes(Services services) {
        this.services = services;
        this.window = new RateWindow(services.view().store().statistics(), System::nanoTime);
    }

    private static double millis(Duration duration) {
        return TimeUnit.NANOSECONDS.toMicros(duration.toNanos()) / 1_000.0;
    }

    private static Optional<Double> present(OptionalDouble value) {
        return value.isPresent() ? Optional.of(value.getAsDouble()) : Optional.empty();
    }

    /** The routes. */
    public List<Route> routes() {
        return List.of(
                Route.get("/statistics/runs", "Shows how runs have ended, and how long they and their steps took.")
                        .with(Filters.SELECTING)
                        .answers(200, "The statistics.", STATISTICS)
                        .does(this::runs),
                Route.get("/statistics/failures", "Groups the newest runs that failed by what they failed with.")
                        .with(Filters.SELECTING)
                        .answers(200, "The failures.", FAILURES)
                        .does(this::failures),
                Route.get("/statistics/definitions", "Shows the newest runs by definition.")
                        .answers(200, "The definitions.", DEFINITIONS)
                        .does(call -> definitions()),
                Route.get(
                                "/statistics/rates",
                                "Shows how many runs were started and ended in each of the last seconds.")
                        .with(Parameter.query(
                                "seconds",
                                "How many seconds, %s to %s. %s by default."
                                        .formatted(LEAST_SECONDS, RateWindow.LONGEST, DEFAULT_SECONDS)))
                        .answers(200, "The rates.", RATES)
                        .does(call -> Answers.ok(RATES.json(window.last(
                                call.number("seconds", DEFAULT_SECONDS, LEAST_SECONDS, RateWindow.LONGEST))))));
    }

    private ApiResponse runs(Call call) {
        var selected = services.perdure().runs(Filters.selected(call));
        return Answers.ok(STATISTICS.json(new Whole(selected.count(), selected.statistics())));
    }

    /** Groups what callers may see: the redaction comes first. */
    private ApiResponse failures(Call call) {
        RunFilter filter = Filters.selected(call);
        RunFilter failed = filter.states().isEmpty() ? filter.state(RunState.FAILED) : filter;
        List<RunInfo> found =
                services.perdure().runs(failed.limit(Failures.MOST_RUNS + 1)).list();
        List<RunInfo> shown =
                found.stream().limit(Failures.MOST_RUNS).map(this::redacted).toList();
        return Answers.ok(FAILURES.json(Failures.of(shown, found.size() > shown.size())));
    }

    private RunInfo redacted(RunInfo run) {
        Subject failed = new Subject(Kind.FAILURE, run.definition(), "");
        return new RunInfo(
                run.id(),
                run.definition(),
                run.state(),
                run.reason().map(reason -> services.shown().text(failed, reason)),
                run.createdAt(),
                run.changedAt(),
                run.wakeAt(),
                run.recoveries(),
                run.awaited(),
                run.description());
    }

    private ApiResponse definitions() {
        List<Seen> found = services.view()
                .store()
                .statistics()
                .newest(RunFilter.all().withoutEngineRuns(), RunStatistics.WITHIN, MOST_RUNS + 1);
        List<Seen> runs = found.subList(0, Math.min(found.size(), MOST_RUNS));
        Map<String, List<Seen>> byName = runs.stream().collect(Collectors.groupingBy(Seen::definition));
        TreeSet<String> registered = services.view().signatures().stream()
                .map(Signature::name)
                .collect(Collectors.toCollection(TreeSet::new));
        Map<String, Long> workers = services.perdure().versions().workers().stream()
                .flatMap(worker -> worker.definitions().stream())
                .collect(Collectors.groupingBy(name -> name, TreeMap::new, Collectors.counting()));
        TreeSet<String> names = new TreeSet<>(byName.keySet());
        names.addAll(registered);
        names.addAll(workers.keySet());
        Sample sample = new Sample(
                runs.size(),
                runs.isEmpty() ? Optional.empty() : Optional.of(runs.getLast().createdAt()),
                found.size() > runs.size());
        return Answers.ok(DEFINITIONS.json(new Definitions(
                sample,
                names.stream()
                        .map(name -> view(
                                name,
                                registered.contains(name),
                                workers.getOrDefault(name, 0L),
                                byName.getOrDefault(name, List.of()),
                                runs))
                        .toList())));
    }

    private static DefinitionView view(String name, boolean registered, long workers, List<Seen> runs, List<Seen> all) {
        Map<RunState, Integer> states = new EnumMap<>(RunState.class);
        runs.forEach(run -> states.merge(run.state(), 1, Integer::sum));
        List<Duration> took = runs.stream()
                .filter(run -> run.state().isTerminal())
                .map(run -> Duration.between(run.createdAt(), run.changedAt()))
                .toList();
        return new DefinitionView(name, registered, workers, states, failures(runs, all), Durations.of(took));
    }

    /** When the runs were started that failed, in parts of the time in which all were started. */
    private static List<FailedPart> failures(List<Seen> runs, List<Seen> all) {
        Map<Integer, Long> parts = runs.stream()
                .filter(run -> run.state() == RunState.FAILED)
                .collect(Collectors.groupingBy(run -> part(run, all), TreeMap::new, Collectors.counting()));
        return parts.entrySet().stream()
                .map(each -> new FailedPart(each.getKey(), each.getValue()))
                .toList();
    }

    private static int part(Seen run, List<Seen> all) {
        Instant first = all.getLast().createdAt();
        long whole = Duration.between(first, all.getFirst().createdAt()).toMillis() + 1;
        return (int) (Duration.between(first, run.createdAt()).toMillis() * PARTS / whole);
    }
}
