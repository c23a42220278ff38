package dev.perdure.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.perdure.Awakeable;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.dag.Dag;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.error.RejectedException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.Queue;
import dev.perdure.retention.Retention;
import dev.perdure.schedule.Schedule;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class MainIT {
    private static final Definition<String, String> WAITS =
            Definition.of("waits", String.class, String.class, (ctx, in) -> in);

    private static SharedPostgres.Fresh database;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @BeforeAll
    static void open() {
        database = SharedPostgres.database("cli");
    }

    @AfterAll
    static void close() {
        database.close();
    }

    private int perdure(String... args) {
        CommandLine commandLine = Main.commandLine()
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF));
        return commandLine.execute(args);
    }

    private String[] onDatabase(String... args) {
        Stream<String> where =
                Stream.of("--url", database.jdbcUrl(), "--user", database.user(), "--password", database.password());
        return Stream.concat(Stream.of(args), where).toArray(String[]::new);
    }

    @Test
    void an_unknown_command_is_a_usage_error() {
        assertThat(perdure("fly")).isEqualTo(Main.WRONG_USAGE);
        assertThat(err.toString().lines())
                .containsExactly("Unmatched argument at index 0: 'fly'. Try 'perdure --help'.");
    }

    @Test
    void what_is_wrong_with_a_command_line_is_one_line() {
        assertThat(perdure("runs", "list", "--state", "flying", "--url", "jdbc:postgresql://localhost/app"))
                .isEqualTo(Main.WRONG_USAGE);
        assertThat(perdure("runs", "show")).isEqualTo(Main.WRONG_USAGE);
        assertThat(perdure("runs", "list", "--limit", "0", "--url", "jdbc:postgresql://localhost/app"))
                .isEqualTo(Main.WRONG_USAGE);
        assertThat(perdure("migrate", "--print", "No-Name")).isEqualTo(Main.WRONG_USAGE);
        assertThat(err.toString().lines())
                .satisfiesExactly(
                        line -> assertThat(line).contains("flying", "Try 'perdure runs list --help'."),
                        line -> assertThat(line).contains("ID", "Try 'perdure runs show --help'."),
                        line -> assertThat(line).contains("The limit is 0"),
                        line -> assertThat(line).contains("The schema name 'No-Name' is not allowed"));
    }

    @Test
    void a_missing_url_says_where_it_may_come_from() {
        assumeThat(System.getenv("PERDURE_URL")).isNull();
        assertThat(perdure("runs", "list")).isEqualTo(Main.WRONG_USAGE);
        assertThat(perdure("migrate")).isEqualTo(Main.WRONG_USAGE);
        assertThat(err.toString().lines())
                .hasSize(2)
                .allMatch(line -> line.contains("--url") && line.contains("PERDURE_URL"));
    }

    @Test
    void queues_are_listed_shown_changed_paused_and_reset() {
        try (PostgresStore store = PostgresStore.on(database.dataSource()).open();
                Perdure perdure = Perdure.on(store)
                        .declare(Queue.named("imports").concurrency(20).perKey(2))
                        .client()) {
            perdure.start(
                    Invocation.of(WAITS, "x"),
                    StartOptions.id("import-1").queue("imports").key("acme"));
            assertThat(perdure(onDatabase("queues", "list"))).isZero();
            assertThat(perdure(onDatabase("queues", "limit", "imports", "--concurrency", "5", "--per-key", "none")))
                    .isZero();
            assertThat(perdure(onDatabase("queues", "pause", "imports", "--reason", "audit")))
                    .isZero();
            assertThat(perdure(onDatabase("queues", "show", "imports"))).isZero();
            assertThat(out.toString())
                    .containsPattern("imports +1 +0 +0 +0 +\\S+ +concurrency 20, per key 2")
                    .contains("Queue imports is changed.", "Its limits: concurrency 5, per key none.")
                    .contains("paused     audit", "declared   concurrency 20, per key 2")
                    .contains("changed    concurrency 5, per key none", "key        acme");
            assertThat(perdure(onDatabase("queues", "resume", "imports"))).isZero();
            assertThat(perdure(onDatabase("queues", "reset", "imports"))).isZero();
            assertThat(perdure.queues().get("imports").limits())
                    .isEqualTo(Queue.named("imports").concurrency(20).perKey(2));
            assertThat(perdure(onDatabase("queues", "limit", "new", "--concurrency", "1", "--create")))
                    .isZero();
            assertThat(perdure(onDatabase("queues", "limit", "new", "--rate", "100/PT1M", "--rate-per-key", "none")))
                    .isZero();
            assertThat(out.toString()).contains("Its limits: concurrency 1, rate 100/PT1M, rate per key none.");
            assertThat(perdure(onDatabase("queues", "pause", "nowhere"))).isEqualTo(Main.NO_SUCH_RUN);
            assertThat(perdure(onDatabase("queues", "limit", "imports"))).isEqualTo(Main.WRONG_USAGE);
            assertThat(perdure(onDatabase("queues", "limit", "imports", "--concurrency", "many")))
                    .isEqualTo(Main.WRONG_USAGE);
            assertThat(perdure(onDatabase("queues", "limit", "imports", "--rate", "100/minute")))
                    .isEqualTo(Main.WRONG_USAGE);
            assertThat(perdure(onDatabase("queues", "limit", "imports", "--concurrency", "0")))
                    .isEqualTo(Main.WRONG_USAGE);
            assertThat(err.toString().lines())
                    .satisfiesExactly(
                            line -> assertThat(line).contains("There is no queue 'nowhere'"),
                            line -> assertThat(line).contains("Nothing to change. Name a limit"),
                            line -> assertThat(line).contains("--concurrency is 'many'. Give a number"),
                            line -> assertThat(line).contains("--rate is '100/minute'. Give a number and a period"),
                            line -> assertThat(line).contains("concurrency of the queue 'imports' is 0"));
        }
    }

    @Test
    void limiters_are_listed_shown_changed_paused_and_reset() {
        try (PostgresStore store = PostgresStore.on(database.dataSource()).open();
                Perdure perdure = Perdure.on(store)
                        .limiters(Limiter.named("stripe").concurrency(20))
                        .client()) {
            assertThat(perdure(onDatabase("limiters", "list"))).isZero();
            assertThat(perdure(onDatabase(
                            "limiters",
                            "limit",
                            "stripe",
                            "--concurrency",
                            "none",
                            "--rate",
                            "100/PT1M",
                            "--burst",
                            "5")))
                    .isZero();
            assertThat(perdure(onDatabase("limiters", "pause", "stripe", "--reason", "audit")))
                    .isZero();
            assertThat(perdure(onDatabase("limiters", "show", "stripe"))).isZero();
            assertThat(out.toString())
                    .containsPattern("stripe +0 +0 +- +concurrency 20")
                    .contains("Limiter stripe is changed.", "Its limits: burst 5, concurrency none, rate 100/PT1M.")
                    .contains("paused     audit", "declared   concurrency 20");
            assertThat(perdure(onDatabase("limiters", "resume", "stripe"))).isZero();
            assertThat(perdure(onDatabase("limiters", "reset", "stripe"))).isZero();
            assertThat(perdure.limiters().get("stripe").limits())
                    .isEqualTo(Limiter.named("stripe").concurrency(20));
            assertThat(perdure(onDatabase("limiters", "limit", "new", "--rate", "none", "--create")))
                    .isZero();
            assertThat(perdure(onDatabase("limiters", "pause", "nowhere"))).isEqualTo(Main.NO_SUCH_RUN);
            assertThat(perdure(onDatabase("limiters", "limit", "stripe"))).isEqualTo(Main.WRONG_USAGE);
            assertThat(perdure(onDatabase("limiters", "limit", "stripe", "--rate", "100/minute")))
                    .isEqualTo(Main.WRONG_USAGE);
            assertThat(err.toString().lines())
                    .satisfiesExactly(
                            line -> assertThat(line).contains("There is no limiter 'nowhere'"),
                            line -> assertThat(line).contains("Nothing to change. Name a limit"),
                            line -> assertThat(line).contains("--rate is '100/minute'. Give a number and a period"));
        }
    }

    @Test
    void a_failed_run_is_retried_and_forked() {
        AtomicBoolean down = new AtomicBoolean(true);
        Definition<String, String> flow = Definition.of("ships", String.class, String.class, (ctx, in) -> {
            ctx.step("charge", () -> {});
            return ctx.step("ship", () -> {
                if (down.get()) {
                    throw new TerminalException("the carrier is down");
                }
                return "shipped " + in;
            });
        });
        try (PostgresStore store = PostgresStore.on(database.dataSource()).open();
                Perdure perdure = Perdure.on(store).register(flow).start()) {
            Run<String> run = perdure.start(Invocation.of(flow, "ada"), StartOptions.id("ships-1"));
            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
            down.set(false);
            assertThat(perdure(onDatabase("runs", "retry", "ships-1"))).isZero();
            assertThat(run.result()).isEqualTo("shipped ada");
            assertThat(perdure(onDatabase(
                            "runs", "fork", "ships-1", "--from", "2", "--id", "ships-2", "--input", "\"bob\"")))
                    .isZero();
            assertThat(perdure.run(RunId.of("ships-2"), TypeRef.of(String.class))
                            .result())
                    .isEqualTo("shipped bob");
            assertThat(out.toString()).contains("Run ships-1 is ", "Run ships-1 is forked. Run ships-2 is ");
            assertThat(perdure(onDatabase("runs", "retry", "ships-1"))).isEqualTo(Main.FAILED);
            assertThat(err.toString()).contains("Run 'ships-1' is not retried.");
        }
    }

    @Test
    void retention_is_shown_changed_and_reset() {
        try (PostgresStore store = PostgresStore.on(database.dataSource()).open();
                Perdure perdure =
                        Perdure.on(store).retention(Retention.days(10)).client()) {
            assertThat(perdure(onDatabase(
                            "retention",
                            "change",
                            "--all",
                            "7d",
                            "--definition",
                            "audit=forever",
                            "--outcome",
                            "FAILED=P90D",
                            "--ids",
                            "12h")))
                    .isZero();
            assertThat(perdure(onDatabase("retention", "show"))).isZero();
            String changed = "definition 'audit' forever; outcome FAILED PT2160H; all others PT168H; ids PT12H";
            assertThat(out.toString())
                    .contains("Runs are kept so: " + changed + ".", "declared   all PT240H", "changed    " + changed)
                    .contains("last pass  none yet: looked at 0 runs, removed 0", "next pass  now");
            assertThat(perdure(onDatabase("retention", "reset"))).isZero();
            assertThat(perdure.retention().info().effective()).isEqualTo(Retention.days(10));
            assertThat(perdure(onDatabase("retention", "change", "--all", "a week")))
                    .isEqualTo(Main.WRONG_USAGE);
            assertThat(perdure(onDatabase("retention", "change"))).isEqualTo(Main.WRONG_USAGE);
            assertThat(err.toString().lines())
                    .satisfiesExactly(
                            line -> assertThat(line).contains("--all is 'a week'. Give a period, such as 30d"),
                            line -> assertThat(line).contains("--all is missing. Give the period"));
        }
    }

    @Test
    void help_is_everywhere() {
        assertThat(perdure("--help")).isZero();
        assertThat(out.toString()).contains("bench", "demo", "dev", "migrate", "runs", "Exit codes");
        assertThat(perdure("runs", "list", "--help")).isZero();
        assertThat(out.toString()).contains("--url");
    }

    @Test
    void a_database_out_of_reach_is_one_clear_line_and_exit_code_3() {
        assertThat(perdure("runs", "list", "--url", "jdbc:postgresql://127.0.0.1:1/app", "--user", "app"))
                .isEqualTo(Main.NO_DATABASE);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString()).contains("127.0.0.1").doesNotContain("\tat ");
    }

    @Test
    void a_url_of_something_else_is_refused() {
        assertThat(perdure("runs", "list", "--url", "jdbc:mysql://localhost/app"))
                .isEqualTo(Main.WRONG_USAGE);
        assertThat(perdure("runs", "list", "--url", "jdbc:postgresql://localhost:port/app"))
                .isEqualTo(Main.WRONG_USAGE);
        assertThat(err.toString().lines())
                .satisfiesExactly(
                        line -> assertThat(line).startsWith("'jdbc:mysql://localhost/app' is not a PostgreSQL URL."),
                        line -> assertThat(line)
                                .startsWith("'jdbc:postgresql://localhost:port/app' is not a PostgreSQL URL."));
    }

    @Test
    void migrations_can_be_read_before_they_are_run() {
        assertThat(perdure("migrate", "--print", "other")).isZero();
        assertThat(out.toString()).contains("CREATE TABLE other.run");
        assertThat(perdure("migrate", "--print", "--schema", "another")).isZero();
        assertThat(out.toString()).contains("CREATE TABLE another.run");
    }

    @Test
    void a_dag_is_shown_as_it_moves_and_everything_it_claims_holds() {
        assertThat(perdure("demo", "dag")).isZero();
        // As wide as the longest name that is shown at the moment.
        assertThat(out.toString())
                .containsPattern("check +RUNNING")
                .containsPattern("charge +FAILED")
                .containsPattern("insure +SKIPPED")
                .containsPattern("ship +CANCELLED")
                .containsPattern("ship +COMPLETED")
                .contains("All checks passed.");
    }

    @Test
    void runs_are_listed_shown_paused_resumed_cancelled_and_killed() {
        withClient(client -> {
            var run = client.start(Invocation.of(WAITS, "x"), StartOptions.id("run-1"));
            assertThat(perdure(onDatabase("runs", "pause", "run-1", "--reason", "to look at it")))
                    .isZero();
            assertThat(perdure(onDatabase("runs", "list", "--state", "paused"))).isZero();
            assertThat(out.toString()).contains("run-1", "waits", "PAUSED", "to look at it");
            assertThat(perdure(onDatabase("runs", "show", "run-1"))).isZero();
            assertThat(out.toString()).contains("definition  waits").doesNotContain("task  ");
            assertThat(perdure(onDatabase("runs", "resume", "run-1"))).isZero();
            assertThat(run.state()).isEqualTo(RunState.READY);
            assertThat(perdure(onDatabase("runs", "cancel", "run-1", "--reason", "not wanted")))
                    .isZero();
            assertThat(run.info().reason()).contains("not wanted");
            assertThat(run.state()).isEqualTo(RunState.CANCELLED);
            var other = client.start(Invocation.of(WAITS, "x"), StartOptions.id("run-2"));
            assertThat(perdure(onDatabase("runs", "kill", "run-2", "--reason", "stuck")))
                    .isZero();
            assertThat(other.info().reason()).contains("stuck");
            assertThat(other.state()).isEqualTo(RunState.CANCELLED);
        });
        assertThat(perdure(onDatabase("runs", "show", "nobody"))).isEqualTo(Main.NO_SUCH_RUN);
        assertThat(err.toString()).contains("There is no run 'nobody'");
    }

    @Test
    void a_run_is_shown_with_its_input_its_result_or_failure_and_what_it_waits_for() throws Exception {
        CountDownLatch suspended = new CountDownLatch(1);
        Topic<String> paid = Topic.of("paid", String.class);
        Definition<String, String> pay = Definition.of("pay", String.class, String.class, (ctx, in) -> {
            if (in.equals("broken")) {
                throw new IllegalStateException("The bank is closed");
            }
            return ctx.receive(paid).await();
        });
        assertThat(perdure(onDatabase("migrate"))).isZero();
        try (PostgresStore store = PostgresStore.on(database.dataSource()).open();
                Perdure engine = Perdure.on(store)
                        .register(pay)
                        .listener(change -> {
                            if (change.state() == RunState.SUSPENDED) {
                                suspended.countDown();
                            }
                        })
                        .warmWindow(Duration.ZERO)
                        .start()) {
            assertThatThrownBy(() -> engine.start(Invocation.of(pay, "broken"), StartOptions.id("pay-1"))
                            .result())
                    .isInstanceOf(RunFailedException.class);
            assertThat(perdure(onDatabase("runs", "show", "pay-1"))).isZero();
            assertThat(out.toString())
                    .contains(
                            "input       \"broken\"",
                            "IllegalStateException: The bank is closed",
                            "\tat dev.perdure.cli.MainIT");
            Run<String> waits = engine.start(Invocation.of(pay, "fine"), StartOptions.id("pay-2"));
            suspended.await();
            assertThat(perdure(onDatabase("runs", "show", "pay-2"))).isZero();
            assertThat(perdure(onDatabase("runs", "list", "--state", "suspended")))
                    .isZero();
            assertThat(out.toString()).contains("waits for   message 'paid'", "  waits for message 'paid'");
            waits.send(paid, "in full");
            assertThat(waits.result()).isEqualTo("in full");
            assertThat(perdure(onDatabase("runs", "show", "pay-2"))).isZero();
            assertThat(out.toString()).contains("input       \"fine\"", "result      \"in full\"");
        }
    }

    @Test
    void nothing_is_done_to_a_run_that_has_ended() {
        withClient(client -> {
            client.start(Invocation.of(WAITS, "x"), StartOptions.id("ended")).kill("to have one that has ended");
            for (String order : List.of("cancel", "kill", "pause", "resume")) {
                assertThat(perdure(onDatabase("runs", order, "ended"))).isEqualTo(Main.HAS_ENDED);
            }
        });
        assertThat(out.toString()).doesNotContain("ended");
        assertThat(err.toString().lines())
                .hasSize(4)
                .containsOnly("Run 'ended' has ended (CANCELLED); nothing was done.");
    }

    @Test
    void an_operator_settles_awakeables_by_run_and_position_and_the_history_says_who() throws InterruptedException {
        CountDownLatch asked = new CountDownLatch(1);
        Definition<String, String> asks = Definition.of("asks", String.class, String.class, (ctx, in) -> {
            Awakeable<Map<String, Integer>> first = ctx.awakeable(new TypeRef<Map<String, Integer>>() {});
            Awakeable<String> second = ctx.awakeable(String.class);
            ctx.step("hand over", asked::countDown);
            try {
                return first.await() + second.await();
            } catch (RejectedException rejected) {
                return first.await() + rejected.getMessage();
            }
        });
        assertThat(perdure(onDatabase("migrate"))).isZero();
        try (PostgresStore store = PostgresStore.on(database.dataSource())
                        .notifications(false)
                        .open();
                Perdure worker = Perdure.on(store).register(asks).start()) {
            var run = worker.start(Invocation.of(asks, "x"), StartOptions.id("asks-1"));
            assertThat(asked.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(perdure(onDatabase("runs", "resolve", "asks-1", "7"))).isEqualTo(Main.WRONG_USAGE);
            assertThat(perdure(onDatabase("runs", "resolve", "asks-1", "1", "--value", "yes")))
                    .isEqualTo(Main.WRONG_USAGE);
            assertThat(perdure(
                            onDatabase("runs", "resolve", "asks-1", "1", "--value", "{\"cents\": 5}", "--by", "anna")))
                    .isZero();
            assertThat(perdure(onDatabase("runs", "resolve", "asks-1", "1", "--value", "{}")))
                    .isNotZero();
            assertThat(perdure(onDatabase("runs", "reject", "asks-1", "2", "--reason", "not today", "--by", "ben")))
                    .isZero();
            assertThat(run.result()).isEqualTo("{cents=5}not today");
            assertThat(perdure(onDatabase("runs", "reject", "asks-1", "2"))).isEqualTo(Main.HAS_ENDED);
            assertThat(perdure(onDatabase("runs", "show", "asks-1"))).isZero();
        }
        assertThat(out.toString())
                .containsPattern("#1  AWAKEABLE RESOLVED by operator 'anna'")
                .containsPattern("#2  AWAKEABLE REJECTED by operator 'ben'");
        assertThat(err.toString().lines())
                .satisfiesExactly(
                        line -> assertThat(line)
                                .isEqualTo(
                                        "Run 'asks-1' has no awakeable at position 7 now. Look for AWAKEABLE in its history, and give the position that stands there."),
                        line -> assertThat(line).startsWith("The value yes is not JSON: "),
                        line -> assertThat(line)
                                .startsWith("The awakeable at position 1 of run 'asks-1' is settled already"),
                        line -> assertThat(line).contains("has ended (COMPLETED)"));
    }

    @Test
    void the_run_of_a_dag_is_shown_with_its_tasks() {
        Dag<String, String> parcel = Dag.of("parcel", String.class, dag -> {
            var pack = dag.task("pack", t -> t.input());
            return dag.after(pack).task("ship", (t, packed) -> packed);
        });
        withClient(client -> {
            client.start(parcel, "x", StartOptions.id("parcel-1"));
            assertThat(perdure(onDatabase("runs", "show", "parcel-1"))).isZero();
        });
        assertThat(out.toString().lines().filter(line -> line.startsWith("task")))
                .satisfiesExactly(
                        line -> assertThat(line).startsWith("task  pack                 READY"),
                        line -> assertThat(line).isEqualTo("task  ship                 PENDING      after pack"));
    }

    @Test
    void schedules_are_listed_shown_paused_triggered_backfilled_and_deleted() {
        Definition<String, String> report = Definition.of("report", String.class, String.class, (ctx, in) -> in);
        assertThat(perdure(onDatabase("migrate"))).isZero();
        try (PostgresStore store = PostgresStore.on(database.dataSource())
                        .notifications(false)
                        .open();
                Perdure worker = Perdure.on(store)
                        .register(report)
                        .schedules(Schedule.cron("yearly", "0 0 1 1 *", ZoneId.of("UTC"), Invocation.of(report, "x")))
                        .start()) {
            await().until(() -> !worker.schedules().list("", 1).isEmpty());
            assertThat(perdure(onDatabase("schedules", "pause", "yearly", "--note", "audit")))
                    .isZero();
            await().until(() ->
                    worker.schedules().get("yearly").status().paused().isPresent());
            assertThat(perdure(onDatabase("schedules", "list"))).isZero();
            assertThat(perdure(onDatabase("schedules", "resume", "yearly"))).isZero();
            assertThat(perdure(onDatabase("schedules", "trigger", "yearly"))).isZero();
            assertThat(perdure(onDatabase(
                            "schedules",
                            "backfill",
                            "yearly",
                            "--from",
                            "2001-01-01T00:00:00Z",
                            "--to",
                            "2003-06-01T00:00:00Z")))
                    .isZero();
            await().until(() -> worker.schedules().get("yearly").recent().size() == 4);
            assertThat(perdure(onDatabase("schedules", "show", "yearly"))).isZero();
            assertThat(perdure(onDatabase("schedules", "backfill", "yearly", "--from", "then", "--to", "now")))
                    .isEqualTo(Main.WRONG_USAGE);
            assertThat(perdure(onDatabase("schedules", "skip", "yearly"))).isZero();
            assertThat(perdure(onDatabase("schedules", "reset", "yearly"))).isZero();
            assertThat(perdure(onDatabase("schedules", "delete", "yearly"))).isZero();
            await().until(() -> worker.schedules().list("", 1).isEmpty());
            assertThat(perdure(onDatabase("schedules", "show", "yearly"))).isEqualTo(Main.NO_SUCH_RUN);
        }
        assertThat(out.toString())
                .containsPattern("yearly +report +paused: audit")
                .containsPattern("Run yearly!\\S+ is started for it\\.")
                .contains("when       cron 0 0 1 1 * in UTC")
                .contains("source     CODE")
                .containsPattern("run        yearly@2001-01-01T00:00:00Z +COMPLETED")
                .containsPattern("run        yearly@2003-01-01T00:00:00Z +COMPLETED");
        assertThat(err.toString())
                .contains("--from is 'then'. Give a time such as 2030-01-01T00:00:00Z.")
                .contains("There is no schedule 'yearly'.");
    }

    private void withClient(Consumer<Perdure> work) {
        assertThat(perdure(onDatabase("migrate"))).isZero();
        try (PostgresStore store = PostgresStore.on(database.dataSource())
                        .notifications(false)
                        .open();
                Perdure client = Perdure.on(store).client()) {
            work.accept(client);
        }
    }
}
