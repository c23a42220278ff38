package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.ChildOptions;
import dev.perdure.Definition;
import dev.perdure.ForkOptions;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.StartKey;
import dev.perdure.StartOptions;
import dev.perdure.attribute.Attribute;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.dag.TaskContext;
import dev.perdure.error.TerminalException;
import dev.perdure.interceptor.Interceptor;
import dev.perdure.interceptor.StartCall;
import dev.perdure.queue.Queue;
import dev.perdure.reaction.Occasion;
import dev.perdure.reaction.Reaction;
import dev.perdure.reaction.RunEvent;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Runs;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Setting;
import dev.perdure.spi.change.StartedFor;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Walks through the table of what is inherited ({@link Setting}): a run that has chosen every setting, and for each kind
 * a run that is started on behalf of it, with options of its own where that kind has any. The settings that count only
 * until a run begins (delay, start key, time to start within) are not in the rows of runs; other scenarios show them.
 */
abstract class InheritanceWalk {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Attribute<String> REGION = Attribute.text("region");
    private static final Queue ALL = Queue.named("all").concurrency(1);
    private static final Queue OTHER = Queue.named("other");

    /** A run, and the run that was started on behalf of it. */
    private record Pair(NewRun original, boolean hasDeadline, NewRun started, boolean startedHasDeadline) {}

    private final AtomicReference<Store> store = new AtomicReference<>();
    private final AtomicBoolean broken = new AtomicBoolean(true);

    /** The store under test. */
    abstract Store open(Clockwork clockwork);

    /** Empties the store under test. */
    void clear() {}

    private static StartOptions original(String run) {
        return chosen(id(run));
    }

    private static StartOptions chosen(StartOptions options) {
        return options.queue(ALL.name())
                .key("acme")
                .priority(3)
                .weight(2)
                .requires("gpu=true")
                .prefers("region=eu")
                .version("v7")
                .timeout(Duration.ofDays(10))
                .attribute(REGION, "north")
                .memo("the original");
    }

    private static StartOptions own() {
        return StartOptions.defaults()
                .queue(OTHER.name())
                .key("kim")
                .priority(5)
                .weight(4)
                .requires("memory>=1")
                .timeout(Duration.ofDays(3))
                .attribute(REGION, "south")
                .memo("its own");
    }

    private static ChildOptions ofChild() {
        return ChildOptions.defaults()
                .queue(OTHER.name())
                .key("kim")
                .priority(5)
                .weight(4)
                .requires("memory>=1")
                .timeout(Duration.ofDays(3))
                .attribute(REGION, "south")
                .memo("its own");
    }

    private final Definition<String, String> sleeper = Scenarios.workflow("sleeper", (ctx, in) -> {
        ctx.sleep(HOUR);
        return in;
    });

    private final Definition<String, String> caller = Scenarios.workflow("caller", (ctx, in) -> {
        ctx.status("calls");
        switch (in) {
            case "child" ->
                ctx.startChild(Invocation.of(sleeper, in), ofChild()).await();
            case "spawn" -> ctx.spawn(Invocation.of(sleeper, in), own());
            case "again" -> throw ctx.continueAsNew("sleep");
            default -> ctx.sleep(HOUR);
        }
        ctx.step("break", () -> {
            if (broken.get()) {
                throw new TerminalException("broken");
            }
        });
        return in;
    });

    private final Definition<RunEvent, Void> alert =
            Definition.of("alert", RunEvent.class, (ctx, event) -> ctx.sleep(HOUR));

    private static List<Integer> numbers(TaskContext<String> task) {
        return List.of(1, 2, 3);
    }

    private final Dag<String, List<Integer>> dag = Dag.of("dag", String.class, builder -> {
        var numbers = builder.task("numbers", InheritanceWalk::numbers);
        var doubled = builder.forEach(numbers).task("doubled", (task, number) -> number * 2);
        var urgent = builder.forEach(numbers)
                .task("urgent", (task, number) -> {
                    if (broken.get()) {
                        throw new TerminalException("broken");
                    }
                    return number;
                })
                .priority(8);
        builder.onFailure(task -> {});
        return urgent.alsoAfter(doubled);
    });

    /** Gives runs of callers a header. */
    private static final class Tenants implements Interceptor {
        @Override
        public StartCall start(StartCall call) {
            return call.startedBy().isEmpty() ? call.with("tenant", "acme") : call;
        }
    }

    private PerdureTest create() {
        clear();
        PerdureTest perdure = PerdureTest.on(
                clockwork -> {
                    Store opened = open(clockwork);
                    store.set(opened);
                    return opened;
                },
                TestMode.NORMAL);
        perdure.register(sleeper, caller, alert, dag)
                .queues(ALL, OTHER)
                .reactions(Reaction.named("told")
                        .of("caller")
                        .when(Occasion.FAILED)
                        .queue(OTHER.name())
                        .start(alert))
                .interceptor(new Tenants())
                .version("v7");
        perdure.startWorker(Map.of("gpu", "true", "memory", "8", "region", "eu"));
        return perdure;
    }

    private Runs runs() {
        return Objects.requireNonNull(store.get()).runs();
    }

    private NewRun settings(String run) {
        return runs().settings(RunId.of(run)).orElseThrow(() -> new AssertionError("There is no run " + run));
    }

    private boolean hasDeadline(String run) {
        Runs.Found found = runs().find(RunId.of(run)).orElseThrow();
        return runs().basis(found.ref()).orElseThrow().deadline() != null;
    }

    private Pair pair(String original, String started) {
        return new Pair(settings(original), hasDeadline(original), settings(started), hasDeadline(started));
    }

    private String startedBy(String run) {
        Runs.Found found = runs().find(RunId.of(run)).orElseThrow();
        return runs().children(found.ref()).getFirst().run().id().value();
    }

    private String first(PerdureTest perdure, String definition) {
        return perdure.runs(RunFilter.all().definition(definition))
                .list()
                .getFirst()
                .id()
                .value();
    }

    private Pair pairOf(PerdureTest perdure, StartedFor kind) {
        switch (kind) {
            case CHILD, SPAWN -> {
                String what = kind == StartedFor.CHILD ? "child" : "spawn";
                perdure.start(Invocation.of(caller, what), original("o"));
                perdure.advance(Duration.ofMinutes(1));
                return pair("o", kind == StartedFor.CHILD ? startedBy("o") : first(perdure, "sleeper"));
            }
            case TASK, ITEM, HANDLER, RERUN -> {
                DagRun<List<Integer>> run = perdure.start(dag, "x", original("o"));
                perdure.settle();
                NewRun before = settings("o/numbers");
                return switch (kind) {
                    case TASK -> {
                        assertThat(settings("o/urgent").priority()).isEqualTo(8);
                        yield pair("o", "o/numbers");
                    }
                    case ITEM -> {
                        assertThat(settings(startedBy("o/urgent")).priority()).isEqualTo(8);
                        yield pair("o", startedBy("o/doubled"));
                    }
                    case HANDLER -> pair("o", startedBy("o"));
                    default -> {
                        run.rerun("numbers");
                        perdure.settle();
                        yield new Pair(before, true, settings("o/numbers"), hasDeadline("o/numbers"));
                    }
                };
            }
            case REACTION -> {
                perdure.start(Invocation.of(caller, "sleep"), original("o"));
                perdure.advance(HOUR.plusMinutes(1));
                return pair("o", first(perdure, "alert"));
            }
            case FIRE -> {
                perdure.schedules()
                        .put(Schedule.of("hourly", Times.every(HOUR), Invocation.of(sleeper, "x"))
                                .options(own()));
                perdure.advance(HOUR.plusMinutes(1));
                perdure.start(Invocation.of(sleeper, "x"), original("o"));
                perdure.settle();
                return pair(
                        "o",
                        perdure.runs(RunFilter.all().definition("sleeper")).list().stream()
                                .map(info -> info.id().value())
                                .filter(run -> !run.equals("o"))
                                .findFirst()
                                .orElseThrow());
            }
            case FORK -> {
                Run<String> run = perdure.start(Invocation.of(caller, "sleep"), original("o"));
                perdure.advance(HOUR.plusMinutes(1));
                run.fork(ForkOptions.from(1).id("f"));
                perdure.settle();
                return pair("o", "f");
            }
            case RETRY -> {
                Run<String> run = perdure.start(Invocation.of(caller, "sleep"), original("o"));
                perdure.advance(HOUR.plusMinutes(1));
                NewRun before = settings("o");
                broken.set(false);
                run.retry();
                perdure.settle();
                return new Pair(before, true, settings("o"), hasDeadline("o"));
            }
            case CONTINUE_AS_NEW -> {
                Run<String> run = perdure.start(Invocation.of(caller, "again"), original("o"));
                NewRun before = settings("o");
                perdure.settle();
                NewRun after = settings("o");
                assertThat(run.info().description().status()).hasValue("calls");
                return new Pair(
                        before.describedAs(before.description().withStatus("calls")), true, after, hasDeadline("o"));
            }
            case DEBOUNCE -> {
                StartKey.Debounce key = StartKey.debounce("key", HOUR, HOUR.multipliedBy(3));
                String run = perdure.start(Invocation.of(sleeper, "a"), chosen(StartOptions.under(key)))
                        .id()
                        .value();
                NewRun before = settings(run);
                assertThat(perdure.start(Invocation.of(sleeper, "b"), own().startKey(key))
                                .id()
                                .value())
                        .isEqualTo(run);
                return new Pair(before, true, settings(run), hasDeadline(run));
            }
        }
        throw new AssertionError(kind);
    }

    /** A run that begins anew under its id keeps its settings, as the tasks of a DAG do. */
    @Test
    void a_workflow_that_begins_anew_has_the_same_settings() {
        try (PerdureTest perdure = create()) {
            Run<String> run = perdure.start(Invocation.of(caller, "sleep"), original("o"));
            perdure.advance(HOUR.plusMinutes(1));
            NewRun before = settings("o");
            perdure.rerun(run.id());
            perdure.settle();
            NewRun after = settings("o");
            for (Setting setting : Setting.values()) {
                assertThat(value(setting, after)).as(setting.name()).isEqualTo(value(setting, before));
            }
            assertThat(hasDeadline("o")).isTrue();
        }
    }

    /** The value of a setting that the rows of runs show, or null if they do not show it. */
    private static @Nullable Object value(Setting setting, NewRun run) {
        return switch (setting) {
            case QUEUE -> run.queue();
            case KEY -> String.valueOf(run.queueKey());
            case PRIORITY -> run.priority();
            case WEIGHT -> run.admission().weight();
            case PLACEMENT -> String.valueOf(run.placement().text());
            case VERSION -> String.valueOf(run.version());
            case ATTRIBUTES -> run.description().attributes();
            case MEMO -> run.description().memo();
            case HEADERS -> run.description().headers();
            case STATUS -> run.description().status();
            case TIMEOUT, DELAY, START_WITHIN, START_KEY -> null;
        };
    }

    private static NewRun asChosen(NewRun like, StartOptions options) {
        return new NewRun(
                        like.id(),
                        like.definition(),
                        like.input(),
                        like.seed(),
                        options.queue(),
                        options.priority(),
                        options.version().orElse(null),
                        null)
                .describedAs(options.description())
                .withQueueKey(options.key().orElse(null))
                .withAdmission(like.admission().weighing(options.weight()).at(options.placement()));
    }

    @ParameterizedTest
    @EnumSource
    void a_run_has_each_setting_from_where_the_table_says(StartedFor kind) {
        try (PerdureTest perdure = create()) {
            Pair pair = pairOf(perdure, kind);
            NewRun defaults = asChosen(pair.started(), StartOptions.defaults());
            NewRun own = kind == StartedFor.REACTION
                    ? asChosen(pair.started(), StartOptions.defaults().queue(OTHER.name()))
                    : asChosen(pair.started(), own());
            for (Setting setting : Setting.values()) {
                Setting.Source source = setting.of(kind);
                NewRun from = switch (source) {
                    case INHERITED -> pair.original();
                    case OWN -> own;
                    // The task chooses no priority, and the definition of the child is not pinned.
                    case OWN_OR_INHERITED -> setting == Setting.VERSION ? own : pair.original();
                    case LIMITED, DEFAULT -> defaults;
                };
                assertThat(value(setting, pair.started()))
                        .as("%s of a %s is %s", setting, kind.title(), source.title())
                        .isEqualTo(value(setting, from));
            }
            assertThat(pair.hasDeadline()).isTrue();
            assertThat(pair.startedHasDeadline())
                    .as("timeout of a %s", kind.title())
                    .isEqualTo(Setting.TIMEOUT.of(kind) != Setting.Source.DEFAULT);
        }
    }
}
