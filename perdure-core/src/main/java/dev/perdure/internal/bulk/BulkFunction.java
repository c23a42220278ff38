package dev.perdure.internal.bulk;

import dev.perdure.RetryPolicy;
import dev.perdure.RunCount;
import dev.perdure.RunFilter;
import dev.perdure.RunFilter.Period;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StepOptions;
import dev.perdure.WorkflowContext;
import dev.perdure.bulk.BulkAction.Kind;
import dev.perdure.bulk.BulkReport;
import dev.perdure.internal.bulk.BulkState.Begun;
import dev.perdure.internal.bulk.BulkState.Reached;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.execution.EngineContext;
import dev.perdure.internal.text.Reserved;
import dev.perdure.spi.Runs;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The run that a bulk action is.
 *
 * <p>How it works. The run walks over the runs that its filter selects, by creation and id, which never change. Each page
 * is two steps: <em>select</em> records which runs it has, and <em>apply</em> sends them the command and records what
 * became of it. A worker that crashes in between leaves the recorded page to the next one. A command carries an audit
 * entry whose id follows from the bulk action and the run; so the store knows a command that it has carried out before,
 * does nothing, and gives the same answer: no run is changed twice, and the count is right.
 *
 * <p>It ends, because it leaves runs alone that were created after it. After some pages it begins anew, so that its
 * journal stays short.
 */
public final class BulkFunction implements Registered.Function {
    /** The definition of bulk actions. Every worker has it. It is stored, so it never changes. */
    public static final String DEFINITION = "perdure.bulk";

    /** What the ids of bulk actions begin with. */
    public static final String PREFIX = Reserved.BULK;

    /** These are only for runs that were at rest when the bulk action began, and not for those that came to rest since. */
    private static final Set<Kind> OF_REST = Set.of(Kind.RESUME, Kind.RETRY, Kind.RERUN, Kind.FORK, Kind.DELETE);

    private static final int RUNS_OF_A_PAGE = 100;
    private static final int PAGES_OF_A_LIFE = 50;
    /** Only trouble of the store or a defect of ours fails such a step, and neither is a reason to give up. */
    private static final StepOptions PATIENT =
            StepOptions.retry(RetryPolicy.standard().attempts(Integer.MAX_VALUE));

    private final Runs runs;
    private final Supplier<BulkCommands> commands;

    /**
     * Reads from here.
     *
     * @param commands sends the commands; asked for when a bulk action runs, because it needs the engine
     */
    public BulkFunction(Runs runs, Supplier<BulkCommands> commands) {
        this.runs = runs;
        this.commands = commands;
    }

    /** As a definition. */
    public Registered registered() {
        return new Registered(target(), "bulk actions of the engine", this);
    }

    /** The name and types of bulk actions. */
    public static Registered.Target target() {
        return new Registered.Target(DEFINITION, BulkState.class, BulkReport.class);
    }

    @Override
    public Object call(WorkflowContext ctx, @Nullable Object input) {
        EngineContext engine = (EngineContext) ctx;
        BulkState state = (BulkState) Objects.requireNonNull(input);
        Begun given = state.begun();
        Begun begun = given == null ? step(engine, "begin", Begun.class, () -> begin(ctx.runId(), state)) : given;
        Reached reached = state.reached();
        BulkReport report = state.report();
        for (int page = 0; page < PAGES_OF_A_LIFE; page++) {
            Reached from = reached;
            BulkPage selected =
                    step(engine, "select", BulkPage.class, () -> select(ctx.runId(), state, begun.at(), from));
            if (!selected.runs().isEmpty()) {
                report = report.plus(step(
                        engine,
                        "apply",
                        BulkReport.class,
                        () -> commands.get().apply(ctx.runId(), state, selected.runs())));
            }
            ctx.status(status(state, begun, report));
            reached = selected.reached();
            if (reached == null) {
                return report;
            }
        }
        throw ctx.continueAsNew(state.at(begun, Objects.requireNonNull(reached), report));
    }

    private static <T> T step(EngineContext engine, String name, Class<T> type, Callable<T> body) {
        return type.cast(Objects.requireNonNull(engine.perform(name, type, body, PATIENT)));
    }

    private static String status(BulkState state, Begun begun, BulkReport report) {
        return "%s: %s of %s runs: %s"
                .formatted(
                        state.action().kind().name().toLowerCase(Locale.ROOT), report.runs(), begun.expected(), report);
    }

    private Begun begin(RunId bulk, BulkState state) {
        Instant at = runs.find(bulk).orElseThrow().info().createdAt();
        Collection<RunCount> counts = runs.count(targets(state, at)).values();
        int sum = counts.stream().mapToInt(RunCount::runs).sum();
        return new Begun(at, counts.stream().anyMatch(RunCount::more) ? "more than " + sum : "about " + sum);
    }

    /** The runs that were there when the bulk action began, in those states that the action is for. */
    private static RunFilter targets(BulkState state, Instant began) {
        RunFilter filter = BulkState.targets(state.action(), state.filter().filter());
        Instant end = began.plus(1, ChronoUnit.MICROS);
        Optional<Period> created = filter.created();
        return created.isPresent()
                ? filter.created(
                        created.get().start(),
                        created.get().end().isBefore(end) ? created.get().end() : end)
                : filter.created(Instant.EPOCH, end);
    }

    private BulkPage select(RunId bulk, BulkState state, Instant began, @Nullable Reached reached) {
        RunFilter filter = targets(state, began).oldestFirst().limit(RUNS_OF_A_PAGE);
        List<RunInfo> found = runs.list(reached == null ? filter : filter.after(place(reached)));
        List<BulkPage.Selected> selected = found.stream()
                .filter(info -> isTarget(info, bulk, state, began))
                .map(BulkPage.Selected::of)
                .toList();
        RunInfo last = found.size() < RUNS_OF_A_PAGE ? null : found.getLast();
        return new BulkPage(selected, last == null ? null : new Reached(last.createdAt(), last.id()));
    }

    /** A page begins after this one; of the run only its place counts. */
    private static RunInfo place(Reached reached) {
        return RunInfo.of(reached.run(), RunState.READY, Optional.empty(), reached.createdAt());
    }

    private static boolean isTarget(RunInfo info, RunId bulk, BulkState state, Instant began) {
        return !info.id().equals(bulk)
                && !(OF_REST.contains(state.action().kind()) && info.changedAt().isAfter(began));
    }
}
