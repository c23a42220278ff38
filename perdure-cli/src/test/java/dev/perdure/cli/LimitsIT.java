package dev.perdure.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.StartOptions;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.Queue;
import dev.perdure.reaction.Occasion;
import dev.perdure.reaction.Reaction;
import dev.perdure.reaction.RunEvent;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class LimitsIT extends CommandsOnPostgres {
    private static final Definition<String, String> WAITS =
            Definition.of("waits", String.class, String.class, (ctx, in) -> in);

    @Test
    void queues_are_listed_shown_changed_paused_and_reset() {
        try (PostgresStore store = PostgresStore.on(database().dataSource()).open();
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
            assertThat(out())
                    .containsPattern("imports +1 +0 +0 +0 +.+? +concurrency 20, per key 2")
                    .contains("Queue imports is changed. Its limits: concurrency 5, per key none.")
                    .containsPattern("paused +audit")
                    .containsPattern("declared +concurrency 20, per key 2")
                    .containsPattern("changed +concurrency 5, per key none")
                    .containsPattern("acme +1 +0 +0 +0 +\\S+");
            JsonNode queue = json("queues", "show", "imports");
            assertThat(queue.at("/queue/paused").asString()).isEqualTo("audit");
            assertThat(queue.at("/queue/limits/per_key").asString()).isEqualTo("none");
            assertThat(queue.at("/keys/0/key").asString()).isEqualTo("acme");
            assertThat(queue.at("/keys/0/waiting").asInt()).isEqualTo(1);
            assertThat(queue.at("/keys/0/last_minute").isNumber()).isTrue();
            assertThat(json("queues", "list").at("/queues").findValuesAsString("name"))
                    .contains("imports");
            assertThat(perdure(onDatabase("queues", "resume", "imports"))).isZero();
            assertThat(perdure(onDatabase("queues", "reset", "imports"))).isZero();
            assertThat(perdure.queues().get("imports").limits())
                    .isEqualTo(Queue.named("imports").concurrency(20).perKey(2));
            assertThat(perdure(onDatabase("queues", "limit", "new", "--concurrency", "1", "--create")))
                    .isZero();
            assertThat(perdure(onDatabase("queues", "limit", "new", "--rate", "100/PT1M", "--rate-per-key", "none")))
                    .isZero();
            assertThat(out()).contains("Its limits: concurrency 1, rate 100/PT1M, rate per key none.");
            assertThat(perdure(onDatabase(
                            "queues",
                            "limit",
                            "new",
                            "--burst",
                            "10",
                            "--rate-per-key",
                            "20/PT1M",
                            "--burst-per-key",
                            "5")))
                    .isZero();
            assertThat(perdure(onDatabase("queues", "limit", "new", "--burst", "none")))
                    .isZero();
            assertThat(out())
                    .contains(
                            "burst 10, burst per key 5, concurrency 1, rate 100/PT1M, rate per key 20/PT1M.",
                            "burst none, burst per key 5, concurrency 1, rate 100/PT1M, rate per key 20/PT1M.");
            assertThat(perdure(onDatabase("queues", "limit", "new", "--burst-per-key", "0")))
                    .isEqualTo(Main.WRONG_USAGE);
            assertThat(perdure(onDatabase("queues", "pause", "nowhere"))).isEqualTo(Main.NO_SUCH_RUN);
            assertThat(perdure(onDatabase("queues", "limit", "imports"))).isEqualTo(Main.WRONG_USAGE);
            assertThat(perdure(onDatabase("queues", "limit", "imports", "--concurrency", "many")))
                    .isEqualTo(Main.WRONG_USAGE);
            assertThat(perdure(onDatabase("queues", "limit", "imports", "--rate", "100/minute")))
                    .isEqualTo(Main.WRONG_USAGE);
            assertThat(perdure(onDatabase("queues", "limit", "imports", "--concurrency", "0")))
                    .isEqualTo(Main.WRONG_USAGE);
            assertThat(err().lines())
                    .satisfiesExactly(
                            line -> assertThat(line).contains("burstPerKey of the queue 'new' is 0"),
                            line -> assertThat(line).contains("There is no queue 'nowhere'"),
                            line -> assertThat(line).contains("Nothing to change. Name a limit"),
                            line -> assertThat(line).contains("--concurrency is 'many'. Give a number"),
                            line -> assertThat(line).contains("--rate is '100/minute'. Give a number and a period"),
                            line -> assertThat(line).contains("concurrency of the queue 'imports' is 0"));
        }
    }

    @Test
    void a_queue_that_is_not_declared_is_shown_while_runs_wait_in_it() {
        try (PostgresStore store = PostgresStore.on(database().dataSource()).open();
                Perdure perdure = Perdure.on(store).client()) {
            perdure.start(
                    Invocation.of(WAITS, "x"),
                    StartOptions.id("undeclared-1").queue("undeclared").key("acme"));
            assertThat(perdure(onDatabase("queues", "list"))).isZero();
            assertThat(perdure(onDatabase("queues", "show", "undeclared"))).isZero();
            assertThat(out())
                    .containsPattern("undeclared +1 +0 +0 +0 +\\S+ +not declared")
                    .containsPattern("limits +not declared")
                    .containsPattern("acme +1 +0 +0 +0 +\\S+");
            assertThat(json("queues", "show", "undeclared").at("/queue/known").asBoolean(true))
                    .isFalse();
            assertThat(perdure(onDatabase("queues", "pause", "undeclared"))).isEqualTo(Main.NO_SUCH_RUN);
            assertThat(perdure(onDatabase("queues", "limit", "undeclared", "--concurrency", "1", "--create")))
                    .isZero();
            assertThat(perdure.queues().get("undeclared").limits())
                    .isEqualTo(Queue.named("undeclared").concurrency(1));
            assertThat(perdure.queues().get("undeclared").known()).isTrue();
        }
    }

    @Test
    void limiters_are_listed_shown_changed_paused_and_reset() {
        try (PostgresStore store = PostgresStore.on(database().dataSource()).open();
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
            assertThat(out())
                    .containsPattern("stripe +0 +0 +- +concurrency 20")
                    .contains("Limiter stripe is changed. Its limits: burst 5, concurrency none, rate 100/PT1M.")
                    .containsPattern("paused +audit")
                    .containsPattern("declared +concurrency 20");
            JsonNode limiter = json("limiters", "show", "stripe").get("limiter");
            assertThat(limiter.at("/limits/rate").asString()).isEqualTo("100/PT1M");
            assertThat(limiter.get("oldest").isNull()).isTrue();
            assertThat(json("limiters", "list").at("/limiters/0/name").asString())
                    .isEqualTo("stripe");
            JsonNode commands = json("audit", "list", "--limiter", "stripe").get("audit");
            assertThat(commands.findValuesAsString("action")).containsExactly("PAUSE", "CHANGE");
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
            assertThat(err().lines())
                    .satisfiesExactly(
                            line -> assertThat(line).contains("There is no limiter 'nowhere'"),
                            line -> assertThat(line).contains("Nothing to change. Name a limit"),
                            line -> assertThat(line).contains("--rate is '100/minute'. Give a number and a period"));
        }
    }

    @Test
    void reactions_are_listed_paused_resumed_and_deleted() {
        Definition<RunEvent, Void> raise = Definition.of("raise", RunEvent.class, (ctx, event) -> {});
        Reaction reaction = Reaction.named("alert")
                .of("order", "invoice")
                .when(Occasion.PAUSED, Occasion.FAILED)
                .late(Duration.ofHours(1))
                .start(raise);
        try (PostgresStore store = PostgresStore.on(database().dataSource()).open();
                Perdure perdure = Perdure.on(store)
                        .reactions(
                                reaction,
                                Reaction.named("all").when(Occasion.CANCELLED).start(raise))
                        .client()) {
            assertThat(perdure(onDatabase("reactions", "list"))).isZero();
            assertThat(perdure(onDatabase("reactions", "pause", "alert", "--reason", "audit")))
                    .isZero();
            assertThat(out())
                    .containsPattern("alert +invoice order +failed, paused, late after PT1H +raise +default")
                    .containsPattern("all +\\(all\\) +cancelled +raise +default")
                    .contains("Reaction alert is paused.");
            JsonNode listed = json("reactions", "list").at("/reactions/0");
            assertThat(listed.at("/name").asString()).isEqualTo("alert");
            assertThat(listed.at("/occasions/2").asString()).isEqualTo("LATE");
            assertThat(listed.at("/paused").asString()).isEqualTo("audit");
            assertThat(perdure(onDatabase("reactions", "resume", "alert"))).isZero();
            assertThat(perdure(onDatabase("reactions", "delete", "alert"))).isZero();
            assertThat(perdure.reactions().list()).hasSize(1);
            assertThat(json("audit", "list", "--reaction", "alert").at("/audit").findValuesAsString("action"))
                    .containsExactly("DELETE", "RESUME", "PAUSE");
            assertThat(perdure(onDatabase("reactions", "delete", "alert"))).isEqualTo(Main.NO_SUCH_RUN);
            assertThat(err()).contains("There is no reaction 'alert'. Check the name, or list the reactions.");
        }
    }
}
