package dev.perdure.micrometer;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.StepOptions;
import dev.perdure.error.RunFailedException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.queue.Queue;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An engine on a store in memory, and what its registry shows. */
class PerdureMetricsTest {
    private static final Path DOCS = Path.of("..", "docs", "operate");
    private static final Pattern ROW = Pattern.compile("^\\| `(perdure\\.[a-z.]+)` \\| ([a-z]+) \\|([^|]*)\\|");
    private static final Pattern QUOTED = Pattern.compile("`([a-z]+)`");
    private static final Pattern SERIES = Pattern.compile("\\bperdure_[a-z_]+");
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration BRIEF = Duration.ofMillis(20);

    private final CountDownLatch holds = new CountDownLatch(1);
    private final CountDownLatch release = new CountDownLatch(1);
    private final Definition<String, String> order = Definition.of("order", String.class, String.class, (ctx, in) -> {
        ctx.step(
                "charge",
                () -> {
                    if (in.equals("bad")) {
                        throw new IllegalStateException("no money");
                    }
                    return in;
                },
                StepOptions.retry(1));
        if (in.equals("held")) {
            ctx.step("hold", () -> {
                holds.countDown();
                return release.await(30, TimeUnit.SECONDS);
            });
        }
        if (in.equals("late")) {
            ctx.step(
                    "wait",
                    () -> release.await(30, TimeUnit.SECONDS),
                    StepOptions.retry(1).timeout(BRIEF));
        }
        ctx.sleep(Duration.ofMillis(30));
        return in;
    });
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final MemoryStore store = new MemoryStore();
    private Perdure perdure;

    @BeforeEach
    void open() {
        perdure = Perdure.on(store)
                .register(order)
                .queues(Queue.named("parcels").concurrency(1))
                .queues(StartOptions.DEFAULT_QUEUE)
                .warmWindow(Duration.ZERO)
                .measurements(PerdureMetrics.on(registry))
                .start();
    }

    @AfterEach
    void close() {
        release.countDown();
        perdure.close();
        store.close();
    }

    /** Waits in real time, with a limit, for what another thread does. */
    static void until(DoubleSupplier value, double expected) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (value.getAsDouble() != expected) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("It is " + value.getAsDouble() + " and not " + expected);
            }
            Thread.onSpinWait();
        }
    }

    private double counter(String name, String... tags) {
        var found = registry.find(name).tags(tags).counter();
        return found == null ? 0 : found.count();
    }

    private double gauge(String name, String... tags) {
        var found = registry.find(name).tags(tags).gauge();
        return found == null ? Double.NaN : found.value();
    }

    /** One run that completes, one that fails, and one that is held. */
    private void runSome() {
        assertThat(perdure.start(Invocation.of(order, "good")).result(PATIENCE)).isEqualTo("good");
        Run<String> bad = perdure.start(
                Invocation.of(order, "bad"), StartOptions.defaults().queue("parcels"));
        assertThatThrownBy(() -> bad.result(PATIENCE)).isInstanceOf(RunFailedException.class);
        perdure.start(Invocation.of(order, "held"), id("held").queue("parcels"));
        perdure.start(Invocation.of(order, "good"), id("waiting").queue("parcels"));
        until(() -> counter("perdure.runs.started", "definition", "order", "queue", "parcels"), 2);
        until(() -> gauge("perdure.runs.loaded"), 1);
    }

    @Test
    void runs_and_steps_are_counted_by_definition_queue_and_outcome() {
        runSome();
        assertThat(counter("perdure.runs.started", "definition", "order", "queue", "default"))
                .isEqualTo(1);
        assertThat(counter("perdure.runs.started", "definition", "order", "queue", "parcels"))
                .isEqualTo(2);
        until(() -> counter("perdure.runs.ended", "definition", "order", "outcome", "completed"), 1);
        until(() -> counter("perdure.runs.ended", "definition", "order", "outcome", "failed"), 1);
        Timer completed = registry.get("perdure.runs.duration")
                .tags("definition", "order", "outcome", "completed")
                .timer();
        until(completed::count, 1);
        assertThat(completed.totalTime(TimeUnit.MILLISECONDS))
                .as("with its sleep")
                .isBetween(30.0, (double) PATIENCE.toMillis());
        assertThat(counter("perdure.runs.left", "definition", "order", "state", "suspended"))
                .isEqualTo(1);
        var failed = registry.get("perdure.steps.attempts")
                .tags("queue", "parcels", "outcome", "failed")
                .timer();
        assertThat(failed.count()).isEqualTo(1);
        assertThat(failed.totalTime(TimeUnit.NANOSECONDS)).isPositive();
        assertThat(registry.get("perdure.steps.attempts")
                        .tag("queue", "default")
                        .timers())
                .singleElement()
                .satisfies(timer -> {
                    assertThat(timer.getId().getTag("outcome")).isEqualTo("succeeded");
                    assertThat(timer.count()).isEqualTo(1);
                });
    }

    @Test
    void an_attempt_that_a_cancel_interrupts_has_not_failed() throws InterruptedException {
        Run<String> run = perdure.start(Invocation.of(order, "held"));
        assertThat(holds.await(30, TimeUnit.SECONDS)).isTrue();
        run.cancel("not wanted");
        assertThatThrownBy(() -> run.result(PATIENCE)).hasMessageContaining("CANCELLED");
        assertThat(registry.get("perdure.steps.attempts").timers())
                .as("of the step before")
                .singleElement()
                .satisfies(timer -> {
                    assertThat(timer.getId().getTag("outcome")).isEqualTo("succeeded");
                    assertThat(timer.count()).isEqualTo(1);
                });
    }

    @Test
    void an_attempt_that_runs_out_of_its_time_has_failed() {
        assertThatThrownBy(() -> perdure.start(Invocation.of(order, "late")).result(PATIENCE))
                .hasMessageContaining("Step 'wait' took longer than PT0.02S.");
        Timer failed =
                registry.get("perdure.steps.attempts").tag("outcome", "failed").timer();
        assertThat(failed.count()).isEqualTo(1);
        assertThat(failed.totalTime(TimeUnit.MILLISECONDS)).isGreaterThanOrEqualTo(BRIEF.toMillis());
    }

    @Test
    void commits_claims_wake_ups_and_the_lease_are_measured() throws InterruptedException {
        runSome();
        assertThat(holds.await(30, TimeUnit.SECONDS)).isTrue();
        until(() -> gauge("perdure.commits.active"), 0);
        var commits = registry.get("perdure.commits").timer();
        var changes = registry.get("perdure.commits.changes").summary();
        assertThat(commits.count()).isEqualTo(changes.count()).isGreaterThan(5);
        assertThat(changes.totalAmount()).isGreaterThanOrEqualTo(commits.count());
        assertThat(registry.get("perdure.claims").timer().count()).isPositive();
        assertThat(counter("perdure.claims.runs")).isGreaterThanOrEqualTo(3);
        assertThat(registry.get("perdure.wakeups.lateness").timer().count()).isPositive();
        assertThat(registry.get("perdure.wakeups.lateness").timer().max(TimeUnit.SECONDS))
                .isLessThan(30);
        assertThat(gauge("perdure.lease.age")).isBetween(0.0, 10.0);
    }

    @Test
    void the_store_is_read_in_the_background_when_it_is_asked_for() {
        runSome();
        until(() -> gauge("perdure.runs", "state", "ready"), 1);
        assertThat(gauge("perdure.runs", "state", "running")).isEqualTo(1);
        assertThat(gauge("perdure.runs", "state", "paused")).isZero();
        assertThat(gauge("perdure.workers")).isEqualTo(1);
        assertThat(gauge("perdure.queue.ready", "queue", "parcels")).isEqualTo(1);
        assertThat(gauge("perdure.queue.ready.age", "queue", "parcels")).isBetween(0.0, 30.0);
        assertThat(gauge("perdure.queue.held", "queue", "parcels")).isEqualTo(1);
        assertThat(gauge("perdure.retention.due")).isZero();
        assertThat(gauge("perdure.store.age")).isBetween(0.0, 30.0);

        release.countDown();
        perdure.close();
        assertThat(gauge("perdure.workers")).isNaN();
        assertThat(gauge("perdure.lease.age")).isNaN();
        assertThat(gauge("perdure.queue.ready", "queue", "parcels")).isNaN();
    }

    private static String typeOf(Meter.Type type) {
        return type == Meter.Type.DISTRIBUTION_SUMMARY ? "summary" : type.name().toLowerCase(Locale.ROOT);
    }

    /** What there is: the name of each meter, with its type and its tags. */
    private Map<String, String> registered() {
        runSome();
        until(() -> gauge("perdure.runs", "state", "ready"), 1);
        Map<String, String> meters = new TreeMap<>();
        for (Meter meter : registry.getMeters()) {
            Set<String> tags = meter.getId().getTags().stream()
                    .map(tag -> tag.getKey())
                    .collect(Collectors.toCollection(TreeSet::new));
            meters.put(meter.getId().getName(), typeOf(meter.getId().getType()) + " " + tags);
        }
        return meters;
    }

    @Test
    void the_page_lists_every_meter_with_its_type_and_its_tags() throws IOException {
        Map<String, String> documented = new TreeMap<>();
        for (String line : Files.readAllLines(DOCS.resolve("metrics.md"))) {
            Matcher row = ROW.matcher(line);
            if (row.find()) {
                Set<String> tags = QUOTED.matcher(row.group(3))
                        .results()
                        .map(tag -> tag.group(1))
                        .collect(Collectors.toCollection(TreeSet::new));
                documented.put(row.group(1), row.group(2) + " " + tags);
            }
        }
        assertThat(documented).isEqualTo(registered());
    }

    /** The names under which Prometheus has a meter. */
    private static Set<String> series(Meter.Id meter) {
        String name = meter.getName().replace('.', '_');
        return switch (meter.getType()) {
            case COUNTER -> Set.of(name + "_total");
            case TIMER -> Set.of(name + "_seconds_count", name + "_seconds_sum", name + "_seconds_max");
            case DISTRIBUTION_SUMMARY -> Set.of(name + "_count", name + "_sum", name + "_max");
            default -> Set.of(meter.getBaseUnit() == null ? name : name + "_" + meter.getBaseUnit());
        };
    }

    private static Set<String> askedBy(String file) throws IOException {
        return SERIES.matcher(Files.readString(DOCS.resolve(file)))
                .results()
                .map(found -> found.group())
                .collect(Collectors.toSet());
    }

    @Test
    void the_dashboard_and_the_alerts_ask_only_for_what_there_is() throws IOException {
        assertThat(registered()).isNotEmpty();
        Set<String> series = registry.getMeters().stream()
                .flatMap(meter -> series(meter.getId()).stream())
                .collect(Collectors.toSet());
        for (String file : new String[] {"grafana-dashboard.json", "alerts.yml", "metrics.md"}) {
            assertThat(askedBy(file)).as(file).isNotEmpty().isSubsetOf(series);
        }
    }

    @Test
    void the_dashboard_shows_every_meter() throws IOException {
        assertThat(registered()).isNotEmpty();
        Set<String> asked = askedBy("grafana-dashboard.json");
        assertThat(registry.getMeters())
                .allSatisfy(meter ->
                        assertThat(asked).as(meter.getId().getName()).containsAnyElementsOf(series(meter.getId())));
    }

    @Test
    void every_state_has_a_meter_that_counts_it_or_none_at_all() {
        runSome();
        for (RunState state : RunState.values()) {
            assertThat(registry.find("perdure.runs")
                                    .tag("state", state.name().toLowerCase(Locale.ROOT))
                                    .gauge()
                            != null)
                    .as(state.name())
                    .isEqualTo(!state.isTerminal());
        }
    }

    /** A comparison with a series that nobody exports is empty, and an alert on it never fires. */
    @Test
    void the_alerts_about_processes_that_are_gone_fire_without_their_series() throws IOException {
        String alerts = Files.readString(DOCS.resolve("alerts.yml"));
        for (String series : List.of("perdure_workers", "perdure_store_age_seconds")) {
            assertThat(alerts.lines().filter(line -> line.contains("expr: ") && line.contains(series)))
                    .singleElement()
                    .asString()
                    .endsWith(" or absent(" + series + ")");
        }
    }
}
