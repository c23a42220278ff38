package dev.perdure.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import dev.perdure.attribute.Attribute;
import dev.perdure.dag.Dag;
import dev.perdure.error.RejectedException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.payload.Encryption;
import dev.perdure.payload.EncryptionKeys;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class RunsCommandIT extends CommandsOnPostgres {
    private static final Attribute<String> EMAIL = Attribute.text("email");
    private static final Definition<String, String> WAITS =
            Definition.of("waits", String.class, String.class, (ctx, in) -> in);

    @Test
    void runs_are_listed_shown_paused_resumed_cancelled_and_killed() {
        withClient(client -> {
            var run = client.start(Invocation.of(WAITS, "x"), StartOptions.id("run-1"));
            assertThat(perdure(onDatabase("runs", "pause", "run-1", "--reason", "to look at it")))
                    .isZero();
            assertThat(perdure(onDatabase("runs", "list", "--state", "paused"))).isZero();
            assertThat(out()).contains("run-1", "waits", "PAUSED", "to look at it");
            assertThat(perdure(onDatabase("runs", "show", "run-1"))).isZero();
            assertThat(out()).contains("definition  waits").doesNotContain("Tasks");
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
        assertThat(err()).contains("There is no run 'nobody'");
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
        try (PostgresStore store = PostgresStore.on(database().dataSource()).open();
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
            assertThat(out())
                    .contains(
                            "input       \"broken\"",
                            "IllegalStateException: The bank is closed",
                            "\tat dev.perdure.cli.RunsCommandIT");
            Run<String> waits = engine.start(Invocation.of(pay, "fine"), StartOptions.id("pay-2"));
            suspended.await();
            assertThat(perdure(onDatabase("runs", "show", "pay-2"))).isZero();
            assertThat(perdure(onDatabase("runs", "list", "--state", "suspended")))
                    .isZero();
            assertThat(out()).contains("waits for   message 'paid'", "  Waits for message 'paid'.");
            waits.send(paid, "in full");
            assertThat(waits.result()).isEqualTo("in full");
            assertThat(perdure(onDatabase("runs", "show", "pay-2"))).isZero();
            assertThat(out()).contains("input       \"fine\"", "result      \"in full\"");
        }
    }

    @Test
    void encrypted_values_are_shown_as_such_and_none_is_written_without_the_key() throws Exception {
        Definition<String, String> pay = Definition.of("pay", String.class, String.class, (ctx, in) -> {
            String card = ctx.step("charge", () -> "secret " + in);
            if (in.equals("broken")) {
                throw new TerminalException(card);
            }
            return card;
        });
        CountDownLatch asked = new CountDownLatch(1);
        Definition<String, String> asks = Definition.of("asks", String.class, String.class, (ctx, in) -> {
            Awakeable<String> answer = ctx.awakeable(String.class);
            ctx.step("hand over", asked::countDown);
            return answer.await();
        });
        EncryptionKeys keys = EncryptionKeys.of("2025", Map.of("2025", new SecretKeySpec(new byte[16], "AES")));
        assertThat(perdure(onDatabase("migrate"))).isZero();
        try (PostgresStore store = PostgresStore.on(database().dataSource()).open();
                Perdure engine = Perdure.on(store)
                        .transform(Encryption.with(keys).attributes(EMAIL))
                        .register(pay, asks)
                        .start()) {
            StartOptions hidden = StartOptions.id("enc-1").attribute(EMAIL, "anna@example.org");
            engine.start(Invocation.of(pay, "fine"), hidden).result();
            assertThatThrownBy(() -> engine.start(Invocation.of(pay, "broken"), StartOptions.id("enc-2"))
                            .result())
                    .isInstanceOf(RunFailedException.class);
            assertThat(perdure(onDatabase("runs", "bulk", "retry", "--id", "enc-2", "--wait")))
                    .isZero();
            assertThat(out())
                    .contains("has ended: retry: 1 of about 1 runs: 1 changed, 0 skipped, 0 refused.")
                    .contains("Its report is encrypted");
            engine.start(Invocation.of(asks, "x"), StartOptions.id("enc-3"));
            assertThat(asked.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(perdure(onDatabase("runs", "resolve", "enc-3", "1", "--value", "7")))
                    .isNotZero();
            assertThat(err()).contains("Resolve its awakeable in a process that has them.");
            engine.schedules().put(Schedule.of("daily", Times.every(Duration.ofDays(1)), Invocation.of(asks, "x")));
            assertThat(perdure(onDatabase("schedules", "list"))).isNotZero();
            assertThat(err())
                    .contains("The schedule 'daily' is encrypted with the key '2025', and this process has no keys. "
                            + "Use a process that has them.");
        }
        EncryptionKeys rotated = EncryptionKeys.of(
                "2026",
                Map.of("2025", new SecretKeySpec(new byte[16], "AES"), "2026", new SecretKeySpec(new byte[32], "AES")));
        try (PostgresStore store = PostgresStore.on(database().dataSource()).open();
                Perdure engine = Perdure.on(store)
                        .transform(Encryption.with(rotated))
                        .register(pay)
                        .start()) {
            assertThat(perdure(onDatabase("runs", "reencrypt", "--key", "2026", "--wait")))
                    .isZero();
            assertThat(out())
                    .containsPattern("The re-encryption reencryption:\\S+ has ended: \\d\\d values encrypted anew "
                            + "with key '2026'; left: none\\.");
            assertThat(perdure(onDatabase("runs", "reencrypt", "--key", "2027", "--wait")))
                    .isOne();
            assertThat(out())
                    .containsPattern(
                            "The re-encryption reencryption:\\S+ is paused: .*A worker encrypts with the key '2026', "
                                    + "and all values are to be encrypted with '2027'\\.");
            Run<String> read = engine.run(RunId.of("enc-1"), TypeRef.of(String.class));
            assertThat(read.result()).isEqualTo("secret fine");
            assertThat(perdure(onDatabase("runs", "show", "enc-1"))).isZero();
            assertThat(out()).contains("input       {\"encrypted\": \"2026\"");
        }
        assertThat(perdure(onDatabase("runs", "show", "enc-1"))).isZero();
        assertThat(out()).contains("input       {\"encrypted\": \"2026\", \"size\": ", "result      {\"encrypted\":");
        assertThat(out()).containsPattern("email.*encrypted.*2026").doesNotContain("anna@example.org");
        assertThat(perdure(onDatabase("runs", "show", "enc-2"))).isZero();
        assertThat(out()).contains("(its message is hidden)").doesNotContain("secret");
        assertThat(perdure(onDatabase("runs", "fork", "enc-2", "--from", "1"))).isNotZero();
        assertThat(err())
                .contains("The values of run 'enc-2' are encrypted with the key '2026', and this process has no keys. "
                        + "Fork it in a process that has them.");
        try (Connection connection = database().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("UPDATE perdure.journal SET payload = '\"x\"' WHERE position = 0"); // As SQL starts runs.
        }
        assertThat(perdure(onDatabase("runs", "repair", "enc-2", "1", "--value", "1", "--why", "by hand")))
                .isNotZero();
        assertThat(err()).contains("Repair it in a process that has them.");
    }

    @Test
    void nothing_is_done_to_a_run_that_has_ended() {
        withClient(client -> {
            client.start(Invocation.of(WAITS, "x"), StartOptions.id("ended")).kill("to have one that has ended");
            for (String order : List.of("cancel", "kill", "pause", "resume")) {
                assertThat(perdure(onDatabase("runs", order, "ended"))).isEqualTo(Main.HAS_ENDED);
            }
        });
        assertThat(out()).doesNotContain("ended");
        assertThat(err().lines()).hasSize(4).containsOnly("Run 'ended' has ended (CANCELLED); nothing was done.");
    }

    @Test
    void an_operator_repairs_a_step_and_says_why() {
        Definition<String, String> ships = Definition.of(
                "sends",
                String.class,
                String.class,
                (ctx, in) -> ctx.step("ship", () -> {
                    throw new TerminalException("the carrier is down");
                }));
        assertThat(perdure(onDatabase("migrate"))).isZero();
        try (PostgresStore store = PostgresStore.on(database().dataSource())
                        .notifications(false)
                        .open();
                Perdure worker = Perdure.on(store).register(ships).start()) {
            var run = worker.start(Invocation.of(ships, "x"), StartOptions.id("sends-1"));
            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
            assertThat(perdure(onDatabase("runs", "repair", "sends-1", "1", "--why", "by hand")))
                    .isEqualTo(Main.WRONG_USAGE);
            assertThat(perdure(onDatabase("runs", "repair", "sends-1", "2", "--value", "1", "--why", "by hand")))
                    .isEqualTo(Main.REFUSED);
            assertThat(perdure(
                            onDatabase("runs", "repair", "sends-1", "1", "--value", "\"parcel\"", "--why", "by hand")))
                    .isZero();
            assertThat(perdure(onDatabase("runs", "retry", "sends-1"))).isZero();
            assertThat(run.result()).isEqualTo("parcel");
            assertThat(perdure(onDatabase("runs", "show", "sends-1"))).isZero();
        }
        assertThat(out())
                .contains("The step is repaired. Run sends-1 is FAILED.")
                .containsPattern("REPAIR run 'sends-1' #1 by \\S+: VALUE: by hand");
        assertThat(err().lines())
                .satisfiesExactly(
                        line -> assertThat(line).startsWith("Give the outcome of the step: either --value JSON"),
                        line -> assertThat(line).contains("has recorded no step at position 2"));
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
        try (PostgresStore store = PostgresStore.on(database().dataSource())
                        .notifications(false)
                        .open();
                Perdure worker = Perdure.on(store).register(asks).start()) {
            var run = worker.start(Invocation.of(asks, "x"), StartOptions.id("asks-1"));
            assertThat(asked.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(perdure(onDatabase("runs", "resolve", "asks-1", "7"))).isEqualTo(Main.REFUSED);
            assertThat(perdure(onDatabase("runs", "resolve", "asks-1", "1", "--value", "yes")))
                    .isEqualTo(Main.WRONG_USAGE);
            assertThat(perdure(
                            onDatabase("runs", "resolve", "asks-1", "1", "--value", "{\"cents\": 5}", "--by", "anna")))
                    .isZero();
            assertThat(perdure(onDatabase("runs", "resolve", "asks-1", "1", "--value", "{}")))
                    .isEqualTo(Main.REFUSED);
            assertThat(perdure(onDatabase("runs", "reject", "asks-1", "2", "--reason", "not today", "--by", "ben")))
                    .isZero();
            assertThat(run.result()).isEqualTo("{cents=5}not today");
            assertThat(perdure(onDatabase("runs", "reject", "asks-1", "2"))).isEqualTo(Main.HAS_ENDED);
            assertThat(perdure(onDatabase("runs", "show", "asks-1"))).isZero();
            assertThat(perdure(onDatabase("audit", "list", "--run", "asks-1"))).isZero();
        }
        assertThat(out().split("RESOLVE run 'asks-1' #1 by anna@", -1))
                .as("once by show, once by list")
                .hasSize(3);
        assertThat(out())
                .containsPattern("#1 +awakeable created")
                .containsPattern("#3 +1 +\\d+ ms +step 'hand over' completed")
                .containsPattern("#1 +operator 'anna' resolved the awakeable")
                .containsPattern("#1 +\\S+ \\S+ +awakeable resolved")
                .containsPattern("#2 +operator 'ben' rejected the awakeable")
                .contains("  run is COMPLETED");
        assertThat(err().lines())
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
        assertThat(out())
                .containsPattern("(?m)^TASK +STATE +CHANGED +AFTER +REASON$")
                .containsPattern("(?m)^pack +READY +.+? +-")
                .containsPattern("(?m)^ship +PENDING +.+? +pack");
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
        try (PostgresStore store = PostgresStore.on(database().dataSource()).open();
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
            assertThat(out()).contains("Run ships-1 is ", "Run ships-1 is forked. Run ships-2 is ");
            assertThat(perdure(onDatabase("runs", "retry", "ships-1"))).isEqualTo(Main.REFUSED);
            assertThat(perdure(onDatabase("runs", "repair", "ships-1", "2", "--value", "1", "--why", "late")))
                    .isEqualTo(Main.REFUSED);
            assertThat(perdure(onDatabase("runs", "fork", "ships-1", "--from", "2", "--id", "ships-2")))
                    .isEqualTo(Main.REFUSED);
            assertThat(err()).contains("Run 'ships-1' is not retried.");
        }
    }

    @Test
    void scripts_get_runs_as_json_before_and_after_a_command() {
        Definition<Map<String, Integer>, Integer> adds = Definition.of(
                "adds",
                new TypeRef<Map<String, Integer>>() {},
                TypeRef.of(Integer.class),
                (ctx, in) -> ctx.step("add", () -> in.get("a") + in.get("b")));
        assertThat(perdure(onDatabase("migrate"))).isZero();
        try (PostgresStore store = PostgresStore.on(database().dataSource()).open();
                Perdure perdure = Perdure.on(store).register(adds).start()) {
            assertThat(perdure.start(Invocation.of(adds, Map.of("a", 1, "b", 2)), StartOptions.id("adds-1"))
                            .result())
                    .isEqualTo(3);
        }
        JsonNode shown = json("runs", "show", "adds-1");
        assertThat(shown.at("/run/id").asString()).isEqualTo("adds-1");
        assertThat(shown.at("/run/input/b").asInt()).isEqualTo(2);
        assertThat(shown.at("/run/result").asInt()).isEqualTo(3);
        assertThat(shown.at("/run/reason").isNull()).isTrue();
        JsonNode step = shown.at("/history/1");
        assertThat(step.get("text").asString()).isEqualTo("step 'add' completed");
        assertThat(step.get("kind").asString()).isEqualTo("STEP");
        assertThat(step.get("position").asInt()).isEqualTo(1);
        assertThat(step.get("attempt").asInt()).isEqualTo(1);
        assertThat(step.get("took_ms").isNumber()).isTrue();
        assertThat(Instant.parse(step.get("at").asString())).isBeforeOrEqualTo(Instant.now());
        JsonNode listed = json("runs", "list", "--definition", "adds");
        assertThat(listed.at("/runs/0/state").asString()).isEqualTo("COMPLETED");
        JsonNode forked = json("runs", "fork", "adds-1", "--from", "1", "--id", "adds-2");
        assertThat(forked.at("/run/id").asString()).isEqualTo("adds-2");
        assertThat(forked.at("/message").asString()).isEqualTo("Run adds-1 is forked. Run adds-2 is READY.");
        assertThat(json("runs", "pause", "adds-2").at("/run/state").asString()).isEqualTo("PAUSED");
    }

    @Test
    void an_empty_list_says_what_to_do() {
        assertThat(perdure(onDatabase("migrate", "--schema", "fresh"))).isZero();
        assertThat(perdure(onDatabase("runs", "list", "--schema", "fresh"))).isZero();
        assertThat(perdure(onDatabase("runs", "list", "--schema", "fresh", "--state", "FAILED")))
                .isZero();
        assertThat(perdure(onDatabase("queues", "list", "--schema", "fresh"))).isZero();
        assertThat(perdure(onDatabase("limiters", "list", "--schema", "fresh"))).isZero();
        assertThat(perdure(onDatabase("schedules", "list", "--schema", "fresh")))
                .isZero();
        assertThat(out())
                .contains("No runs in schema fresh. Start one in your application, or name another --schema.")
                .contains("No run matches. Leave out conditions to see others.")
                .contains("No queues. Declare one where the engine is built, or with 'queues limit NAME --create'.")
                .contains("No limiters. Declare one", "No schedules. Declare one");
    }

    @Test
    void a_list_that_reaches_its_limit_says_so() {
        withClient(client -> {
            client.start(Invocation.of(WAITS, "x"), StartOptions.id("of-many-1"));
            client.start(Invocation.of(WAITS, "x"), StartOptions.id("of-many-2"));
            assertThat(perdure(onDatabase("runs", "list", "--limit", "1"))).isZero();
        });
        assertThat(out())
                .contains("of-many-2", "These are the newest 1. Raise --limit to see older ones.")
                .doesNotContain("of-many-1");
    }

    @Test
    void runs_are_found_by_their_attributes_and_other_conditions_and_counted() {
        Attribute<Number> total = Attribute.number("total");
        Attribute<List<String>> tags = Attribute.keywords("tags");
        withClient(client -> {
            client.start(
                    Invocation.of(WAITS, "x"),
                    StartOptions.id("found-1")
                            .attribute(total, 100)
                            .attribute(tags, List.of("urgent"))
                            .memo("Called on Monday")
                            .key("c-7"));
            client.start(Invocation.of(WAITS, "x"), StartOptions.id("found-2").attribute(total, 20));
        });
        assertThat(json("runs", "list", "--id", "found-", "--where", "total>=50")
                        .at("/runs"))
                .hasSize(1);
        assertThat(json("runs", "list", "--where", "total<50", "--where", "total=20")
                        .at("/runs/0/id")
                        .asString())
                .isEqualTo("found-2");
        assertThat(json("runs", "list", "--where", "tags~urgent", "--key", "c-7")
                        .at("/runs/0/attributes/total")
                        .asInt())
                .isEqualTo(100);
        assertThat(json("runs", "list", "--where", "total=\"100\"").at("/runs")).isEmpty();
        assertThat(json("runs", "list", "--id", "found-", "--oldest-first")
                        .at("/runs/0/id")
                        .asString())
                .isEqualTo("found-1");
        JsonNode counted = json("runs", "count", "--id", "found-", "--created-from", "2020-01-01T00:00:00Z");
        assertThat(counted.at("/counts/0/runs").asInt()).isEqualTo(2);
        assertThat(counted.at("/counts/0/more").asBoolean()).isFalse();
        JsonNode measured = json("runs", "statistics", "--id", "found-");
        assertThat(measured.at("/statistics/more").asBoolean()).isFalse();
        assertThat(measured.at("/statistics").has("p95_ms")).isTrue();
        assertThat(measured.at("/failures")).isEmpty();
        assertThat(perdure(onDatabase("runs", "statistics", "--id", "none-"))).isZero();
        assertThat(out()).contains("No run of these has ended in the last 24 hours.");
        assertThat(perdure(onDatabase("runs", "show", "found-1"))).isZero();
        assertThat(out()).contains("Called on Monday", "urgent", "00-found-1");
        assertThat(json("runs", "show", "found-1").at("/run/headers/trace").asString())
                .isEqualTo("00-found-1");
        assertThat(perdure(onDatabase("runs", "list", "--where", "total"))).isNotZero();
        assertThat(err())
                .contains(
                        "The condition 'total' has no comparison. Write NAME=VALUE, NAME>=VALUE, NAME<VALUE or NAME~WORD.");
    }

    @Test
    void a_failure_cannot_control_the_terminal() {
        Definition<String, String> fails = Definition.of("fails", String.class, String.class, (ctx, in) -> {
            throw new TerminalException("bad \033]0;owned\007\033[31m \u009b31m");
        });
        assertThat(perdure(onDatabase("migrate"))).isZero();
        try (PostgresStore store = PostgresStore.on(database().dataSource()).open();
                Perdure perdure = Perdure.on(store).register(fails).start()) {
            Run<String> run = perdure.start(Invocation.of(fails, "x"), StartOptions.id("fails-1"));
            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
        }
        assertThat(perdure(onDatabase("runs", "show", "fails-1"))).isZero();
        assertThat(perdure(onDatabase("runs", "list"))).isZero();
        assertThat(out()).contains("bad  ]0;owned  [31m").doesNotContainPattern("[\\p{Cc}&&[^\n\t]]");
    }

    @Test
    void numbers_keep_their_digits() {
        AtomicBoolean down = new AtomicBoolean(true);
        Definition<Map<String, BigDecimal>, BigDecimal> sums = Definition.of(
                "sums",
                new TypeRef<Map<String, BigDecimal>>() {},
                TypeRef.of(BigDecimal.class),
                (ctx, in) -> in.get("price").add(ctx.step("fee", () -> {
                    if (down.get()) {
                        throw new TerminalException("no fee");
                    }
                    return BigDecimal.ZERO;
                })));
        assertThat(perdure(onDatabase("migrate"))).isZero();
        try (PostgresStore store = PostgresStore.on(database().dataSource()).open();
                Perdure perdure = Perdure.on(store).register(sums).start()) {
            Run<BigDecimal> run = perdure.start(
                    Invocation.of(sums, Map.of("price", new BigDecimal("0.10"))), StartOptions.id("sums-1"));
            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
            assertThat(perdure(onDatabase(
                            "runs", "repair", "sums-1", "1", "--value", "12345678901234567.89", "--why", "by hand")))
                    .isZero();
            assertThat(perdure(onDatabase("runs", "retry", "sums-1"))).isZero();
            assertThat(run.result()).isEqualByComparingTo("12345678901234567.99");
            down.set(false);
            assertThat(perdure(onDatabase(
                            "runs",
                            "fork",
                            "sums-1",
                            "--from",
                            "1",
                            "--id",
                            "sums-2",
                            "--input",
                            "{\"price\":98765432109876543.210}")))
                    .isZero();
            assertThat(perdure.run(RunId.of("sums-2"), TypeRef.of(BigDecimal.class))
                            .result())
                    .isEqualByComparingTo("98765432109876543.210");
        }
        assertThat(perdure(onDatabase("runs", "show", "sums-1", "--json"))).isZero();
        assertThat(perdure(onDatabase("runs", "show", "sums-2", "--json"))).isZero();
        assertThat(out())
                .contains("\"input\":{\"price\":0.10},\"result\":12345678901234567.99")
                .contains("\"input\":{\"price\":98765432109876543.210},\"result\":98765432109876543.210");
    }

    @Test
    void input_is_json_however_deeply_it_is_nested() {
        Definition<Object, Object> nests = Definition.of("nests", Object.class, Object.class, (ctx, in) -> in);
        withClient(client -> List.of(499, 999).forEach(depth -> {
            Object nested = "x";
            for (int level = 0; level < depth; level++) {
                nested = List.of(nested);
            }
            client.start(Invocation.of(nests, nested), StartOptions.id("nests-" + depth));
            assertThat(perdure(onDatabase("runs", "show", "nests-" + depth, "--json")))
                    .isZero();
            assertThat(out()).contains("\"input\":" + "[".repeat(depth) + "\"x\"");
        }));
    }

    @Test
    void a_run_is_shown_with_every_command_to_it() {
        withClient(client -> {
            Run<?> run = client.start(Invocation.of(WAITS, "x"), StartOptions.id("much"));
            for (int i = 0; i < 60; i++) {
                run.pause("pause " + i);
                run.resume();
            }
        });
        JsonNode entries = json("runs", "show", "much").get("audit");
        assertThat(entries).hasSize(120);
        assertThat(entries.get(0).get("detail").asString()).isEqualTo("pause 0");

        assertThat(perdure(onDatabase("audit", "list", "--run", "much", "--limit", "5")))
                .isZero();
        assertThat(out()).contains("These are the newest 5. Raise --limit to see older ones.");
        assertThat(perdure(onDatabase("audit", "list", "--run", "much", "--limit", "121")))
                .isZero();
        assertThat(out()).doesNotContain("the newest 121");
    }
}
