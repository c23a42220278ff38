package dev.perdure.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.StartOptions;
import dev.perdure.StepOptions;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.bulk.BulkAction;
import dev.perdure.error.RunFailedException;
import dev.perdure.memory.MemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/** Checks the log at INFO: each line, its logger and its stack trace. */
@ExtendWith(PerdureExtension.class)
class LogTest {
    private static final String SECRET = "4111-1111";

    private final Logger logger = (Logger) LoggerFactory.getLogger("dev.perdure");
    private final Lines lines = new Lines();

    /** Collects the log events. */
    private static final class Lines extends AppenderBase<ILoggingEvent> {
        final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();
        volatile Consumer<String> whenLogged = line -> {};

        @Override
        protected void append(ILoggingEvent event) {
            event.prepareForDeferredProcessing(); // takes the MDC of this thread
            events.add(event);
            whenLogged.accept(event.getFormattedMessage());
        }

        List<String> of(String logger) {
            return events.stream()
                    .filter(event -> event.getLoggerName().equals(logger))
                    .map(event -> event.getLevel() + " " + event.getFormattedMessage())
                    .toList();
        }
    }

    /** A workflow whose input and result must never show in a log. */
    public static class Payments {
        private final CountDownLatch inBody = new CountDownLatch(1);
        private final CountDownLatch release = new CountDownLatch(1);

        @Workflow("pay")
        public String pay(WorkflowContext ctx, String card) {
            return ctx.step(
                    "charge",
                    () -> {
                        throw new IllegalStateException("The bank is closed");
                    },
                    StepOptions.retry(2));
        }

        @Workflow("slow")
        public String slow(WorkflowContext ctx, String card) {
            return ctx.step("hold", () -> {
                inBody.countDown();
                release.await();
                return card;
            });
        }

        @Workflow("nap")
        public String nap(WorkflowContext ctx, String card) {
            ctx.step("before", () -> {});
            return card;
        }

        @Workflow("long")
        public String sleepLong(WorkflowContext ctx, String card) {
            ctx.sleep(Duration.ofDays(1));
            return card;
        }
    }

    private final Payments payments = new Payments();
    private Level before;

    @BeforeEach
    void listen() {
        before = logger.getLevel();
        logger.setLevel(Level.INFO);
        logger.setAdditive(false);
        lines.start();
        logger.addAppender(lines);
    }

    @AfterEach
    void stopListening() {
        logger.detachAppender(lines);
        logger.setLevel(before);
        logger.setAdditive(true);
    }

    @Test
    void a_failed_attempt_and_a_failed_run_are_logged_once_with_their_stack_trace(PerdureTest perdure) {
        perdure.register(payments);
        Run<String> run = perdure.start(Payments::pay, SECRET, StartOptions.id("p-1"));
        assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
        perdure.crash(); // a replay does not log again
        perdure.settle();

        assertThat(lines.of("dev.perdure.run").stream().map(line -> line.replaceAll("PT[0-9.]+S", "DELAY")))
                .containsExactly(
                        "WARN Run p-1 of 'pay': step 'charge' failed at attempt 1 (java.lang.IllegalStateException:"
                                + " The bank is closed); the next attempt is in DELAY.",
                        "WARN Run p-1 of 'pay': step 'charge' failed at attempt 2 (java.lang.IllegalStateException:"
                                + " The bank is closed), the last; the workflow gets a StepFailedException.",
                        "WARN Run p-1 of 'pay' is FAILED and is not retried. './perdure runs show p-1' shows its"
                                + " history. When the cause is gone, './perdure runs retry p-1' or Run.retry() lets it"
                                + " continue at the call that failed.");
        assertThat(lines.events)
                .extracting(event -> String.valueOf(event.getKeyValuePairs()))
                .contains(
                        "[run=\"p-1\", definition=\"pay\", step=\"charge\", attempt=\"1\", last=\"false\"]",
                        "[run=\"p-1\", definition=\"pay\", state=\"FAILED\"]");
        assertThat(lines.events.stream().filter(event -> event.getLoggerName().equals("dev.perdure.run")))
                .allSatisfy(event -> assertThat(ThrowableProxyUtil.asString(event.getThrowableProxy()))
                        .contains("The bank is closed", "LogTest$Payments"));
        assertThat(lines.events)
                .noneSatisfy(event -> assertThat(
                                event.getFormattedMessage() + ThrowableProxyUtil.asString(event.getThrowableProxy()))
                        .contains(SECRET));
    }

    @Test
    void of_attempts_that_fail_alike_the_last_has_its_stack_trace_and_one_of_a_minute(PerdureTest perdure) {
        RetryPolicy policy = RetryPolicy.standard()
                .attempts(6)
                .initialDelay(Duration.ofSeconds(25))
                .factor(1)
                .jitter(0);
        Definition<String, String> flow = Definition.of(
                "flow",
                String.class,
                String.class,
                (ctx, in) -> ctx.step(
                        "call",
                        () -> {
                            throw new IllegalStateException("not\nnow");
                        },
                        StepOptions.retry(policy)));
        perdure.register(flow);
        Run<String> run = perdure.start(Invocation.of(flow, "x"));
        assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);

        List<ILoggingEvent> attempts = lines.events.stream()
                .filter(event -> event.getFormattedMessage().contains("failed at attempt"))
                .toList();
        assertThat(attempts)
                .allSatisfy(event ->
                        assertThat(event.getFormattedMessage()).contains("(java.lang.IllegalStateException: not now)"));
        assertThat(attempts.stream().map(event -> event.getThrowableProxy() != null))
                .containsExactly(true, false, false, true, false, true);
    }

    @Test
    void lines_of_bodies_and_workflows_have_their_run_in_the_mdc_also_after_a_wait(PerdureTest perdure) {
        Definition<String, String> flow = Definition.of("flow", String.class, String.class, (ctx, in) -> {
            ctx.step("one", () -> {
                logger.info("in a step");
                MDC.clear(); // what a careless library does
            });
            logger.info("after a step");
            ctx.sleep(Duration.ofDays(1));
            logger.info("after a wait");
            ctx.stepAsync("two", () -> logger.info("beside")).await();
            return in;
        });
        perdure.register(flow);
        perdure.start(Invocation.of(flow, "x"), StartOptions.id("f-1")).result();

        Map<String, Map<String, String>> contexts = new TreeMap<>();
        for (ILoggingEvent event : lines.events) {
            if (event.getLoggerName().equals("dev.perdure")) {
                Map<String, String> context = new TreeMap<>(event.getMDCPropertyMap());
                assertThat(context.remove("perdure.worker")).matches("[0-9a-f-]{36}");
                contexts.put(event.getFormattedMessage(), context);
            }
        }
        Map<String, String> run = Map.of("perdure.run", "f-1", "perdure.definition", "flow");
        assertThat(contexts)
                .containsEntry("after a step", run)
                .containsEntry("after a wait", run)
                .containsEntry("in a step", with(run, "one"))
                .containsEntry("beside", with(run, "two"));
    }

    private static Map<String, String> with(Map<String, String> run, String step) {
        Map<String, String> all = new TreeMap<>(run);
        all.put("perdure.step", step);
        all.put("perdure.attempt", "1");
        return all;
    }

    @Test
    void a_paused_run_says_why_and_how_to_resume_it(PerdureTest perdure) {
        perdure.register(payments);
        Run<String> run = perdure.start(Payments::sleepLong, SECRET, StartOptions.id("p-2"));
        perdure.settle();
        run.pause("the bank asked us to");
        assertThat(lines.of("dev.perdure.run"))
                .containsExactly(
                        "WARN Run p-2 of 'long' is PAUSED: the bank asked us to. It continues when it is resumed:"
                                + " './perdure runs resume p-2' or Run.resume().");
    }

    @Test
    void a_bulk_pause_logs_one_run_and_that_there_are_more(PerdureTest perdure) {
        perdure.register(payments);
        for (int i = 0; i < 20; i++) {
            perdure.start(Payments::sleepLong, SECRET, StartOptions.id("p-" + i));
        }
        perdure.settle();
        perdure.runs(RunFilter.all().definition("long"))
                .start(BulkAction.pause("the bank asked us to"))
                .result();
        List<String> logged = lines.of("dev.perdure.run");
        assertThat(logged).hasSize(2);
        assertThat(logged.getFirst())
                .matches("WARN Run p-\\d+ of 'long' is PAUSED: the bank asked us to\\. It continues .*");
        assertThat(logged.getLast())
                .isEqualTo(
                        "WARN More runs of 'long' are PAUSED: the bank asked us to. './perdure runs list --state PAUSED'"
                                + " lists them. Their lines are logged at DEBUG for a minute.");
    }

    private List<String> ofWorkers() {
        return lines.of("dev.perdure.worker").stream()
                .map(line -> line.replaceAll("[0-9a-f-]{36}", "ID"))
                .toList();
    }

    @Test
    void a_worker_says_that_it_joined_waits_for_bodies_and_is_closed() throws Exception {
        lines.whenLogged = line -> {
            if (line.contains("is closing")) {
                payments.release.countDown();
            }
        };
        try (MemoryStore store = new MemoryStore();
                Perdure perdure = Perdure.on(store).register(payments).start()) {
            perdure.start(Payments::slow, SECRET);
            payments.inBody.await();
        }
        assertThat(ofWorkers())
                .containsExactly(
                        "INFO Worker ID joined: 6 definitions [long, nap, pay, perdure.bulk, perdure.schedule, slow], queues [default,"
                                + " perdure.schedules], version none, labels none, lease PT10S, at most 10000 runs.",
                        "INFO Worker ID is closing: it takes no more runs, and waits up to PT10S for the step bodies of 1"
                                + " runs.",
                        "INFO Worker ID is closed; its runs have ended or were given back.");
    }

    @Test
    void a_worker_that_closes_over_a_body_says_so() throws Exception {
        try (MemoryStore store = new MemoryStore();
                Perdure perdure = Perdure.on(store)
                        .register(payments)
                        .closeTimeout(Duration.ofMillis(1))
                        .start()) {
            perdure.start(Payments::slow, SECRET);
            payments.inBody.await();
        }
        assertThat(ofWorkers().getLast())
                .isEqualTo(
                        "WARN Worker ID is closed after PT0.001S, although the step bodies of 1 runs had not ended. It"
                                + " interrupted them and gave their runs back, so these bodies run again elsewhere.");
        payments.release.countDown();
    }

    @Test
    void a_worker_says_how_many_runs_of_a_dead_one_it_took_over(PerdureTest perdure) {
        perdure.register(payments);
        perdure.crashBeforeNextCommit();
        assertThat(perdure.start(Payments::nap, SECRET).result()).isEqualTo(SECRET);
        perdure.settle(); // Another thread may claim the run before the line about it is written.
        assertThat(ofWorkers())
                .filteredOn(line -> line.contains("took over"))
                .containsExactly("INFO Worker ID took over 1 runs of dead workers; 1 of them are ready to continue.");
    }
}
