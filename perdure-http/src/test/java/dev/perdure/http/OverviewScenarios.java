package dev.perdure.http;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Invocation;
import dev.perdure.http.ApiKit.Answer;
import dev.perdure.spi.Store;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import tools.jackson.databind.JsonNode;

/** What a dashboard shows beside lists of runs, on every store. All tests share one store. */
@TestInstance(Lifecycle.PER_CLASS)
abstract class OverviewScenarios {
    private Store store;
    private ApiKit kit;

    abstract Store open();

    @BeforeAll
    final void start() {
        store = open();
        kit = new ApiKit(store);
    }

    @AfterAll
    final void stop() {
        kit.close();
        store.close();
        drop();
    }

    /** Removes what is below the store. */
    void drop() {}

    private static JsonNode named(JsonNode list, String name) {
        return StreamSupport.stream(list.spliterator(), false)
                .filter(each -> each.path("name").asString("").equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void steps_that_run_show_their_progress_and_their_log() {
        kit.perdure.start(Invocation.of(kit.sample.load(), "catalogue"), id("load-1"));
        kit.await("/runs/load-1", "/progress/0/message", "page 1 of 2");
        Answer run = kit.get("/runs/load-1").is(200);
        assertThat(run.at("/progress/0/step")).isEqualTo("read");
        assertThat(run.json().at("/progress/0/fraction").asDouble()).isEqualTo(0.5);
        kit.sample.loads.add("go");
        kit.await("/runs/load-1", "/run/state", "COMPLETED");
        assertThat(kit.get("/runs/load-1").json().at("/progress")).isEmpty();

        kit.await("/runs/load-1/log", "/lines/1/text", "page 2 is empty");
        Answer first = kit.get("/runs/load-1/log?limit=1").is(200);
        assertThat(first.at("/lines/0/text")).isEqualTo("reads catalogue");
        assertThat(first.at("/lines/0/level")).isEqualTo("INFO");
        assertThat(first.at("/lines/0/logger")).isEqualTo("shop.Import");
        assertThat(first.json().at("/dropped").asInt()).isZero();
        Answer second = kit.get("/runs/load-1/log?after=" + first.at("/next")).is(200);
        assertThat(second.json().at("/lines").findValuesAsString("text")).containsExactly("page 2 is empty");
        Answer end = kit.get("/runs/load-1/log?after=" + second.at("/next")).is(200);
        assertThat(end.json().at("/lines")).isEmpty();
        assertThat(end.at("/next")).isEqualTo(second.at("/next"));
        assertThat(kit.get("/runs/load-1/log?newest=true&limit=1").at("/lines/0/text"))
                .isEqualTo("page 2 is empty");
        assertThat(kit.get("/runs/none/log").is(404).at("/title")).isEqualTo("UnknownRunException");
    }

    @Test
    void the_topics_of_a_run_are_listed() {
        kit.perdure.start(Invocation.of(Sample.COUNT_UP, 3), id("count-1"));
        Awaitility.await()
                .untilAsserted(() -> assertThat(kit.get("/runs/count-1/published")
                                .is(200)
                                .json()
                                .at("/topics/0/values")
                                .asInt())
                        .isEqualTo(3));
        Answer topics = kit.get("/runs/count-1/published?limit=1").is(200);
        assertThat(topics.at("/topics/0/topic")).isEqualTo("progress");
        assertThat(topics.at("/next")).isEqualTo("progress");
        assertThat(kit.get("/runs/count-1/published?after=progress").json().at("/topics"))
                .isEmpty();
    }

    @Test
    void statistics_tell_how_runs_end_and_what_they_fail_with() {
        for (int i = 0; i < 3; i++) {
            kit.perdure
                    .start(Invocation.of(Sample.ORDER, new Sample.Order("book", 1)), id("order-" + i))
                    .result(Duration.ofSeconds(20));
            kit.perdure.start(Invocation.of(Sample.FAIL, "berlin " + i), id("fail-" + i));
            kit.await("/runs/fail-" + i, "/run/state", "FAILED");
        }
        kit.perdure.start(Invocation.of(Sample.FAIL, "rome"), id("fail-rome"));
        kit.await("/runs/fail-rome", "/run/state", "FAILED");

        JsonNode orders = kit.get("/statistics/runs?definition=order").is(200).json();
        assertThat(orders.at("/counts/0/runs").asInt()).isEqualTo(3);
        assertThat(orders.at("/sample/runs").asInt()).isEqualTo(3);
        assertThat(orders.at("/sample/more").asBoolean()).isFalse();
        assertThat(orders.at("/completed").asInt()).isEqualTo(3);
        assertThat(orders.at("/success_rate").asDouble()).isEqualTo(1);
        assertThat(orders.at("/durations/count").asInt()).isEqualTo(3);
        assertThat(orders.at("/durations/p50_ms").asDouble())
                .isPositive()
                .isLessThanOrEqualTo(orders.at("/durations/max_ms").asDouble());
        assertThat(orders.at("/steps/0/name").asString()).isEqualTo("charge");
        assertThat(orders.at("/steps/0/durations/count").asInt()).isEqualTo(3);
        JsonNode broken = kit.get("/statistics/runs?definition=fail").is(200).json();
        assertThat(broken.at("/success_rate").asDouble()).isZero();
        assertThat(named(broken.at("/steps"), "break").at("/failed").asInt()).isEqualTo(4);
        assertThat(kit.get("/statistics/runs?state=READY").is(400).at("/detail"))
                .isEqualTo(
                        "The filter names only states of runs that have not ended: [READY]. Name COMPLETED, FAILED, CANCELLED or SKIPPED, or none.");

        Answer failures = kit.get("/statistics/failures?definition=fail").is(200);
        assertThat(failures.json().at("/looked").asInt()).isEqualTo(4);
        assertThat(failures.json().at("/failures").findValuesAsString("message"))
                .containsExactly(
                        "Step 'break' failed after # attempt: java.lang.IllegalStateException: no route to berlin #",
                        "Step 'break' failed after # attempt: java.lang.IllegalStateException: no route to rome");
        assertThat(failures.at("/failures/0/type")).isEqualTo("java.lang.IllegalStateException");
        assertThat(failures.json().at("/failures/0/runs").asInt()).isEqualTo(3);
        assertThat(failures.at("/failures/0/step")).isEqualTo("break");
        assertThat(failures.at("/failures/0/latest")).isEqualTo("fail-2");
        assertThat(failures.at("/failures/0/example")).contains("no route to berlin 2");

        JsonNode all = kit.get("/statistics/definitions").is(200).json();
        assertThat(all.at("/more").asBoolean()).isFalse();
        JsonNode order = named(all.at("/definitions"), "order");
        assertThat(order.at("/runs").asInt()).isEqualTo(3);
        assertThat(order.at("/workers").asInt()).isEqualTo(1);
        assertThat(order.at("/registered").asBoolean()).isTrue();
        JsonNode fail = named(all.at("/definitions"), "fail");
        assertThat(fail.at("/failed").asInt()).isEqualTo(4);
        assertThat(fail.at("/running").asInt()).isZero();
        assertThat(fail.at("/failures").findValues("runs").stream()
                        .mapToInt(JsonNode::asInt)
                        .sum())
                .isEqualTo(4);
        assertThat(fail.at("/failures").findValues("part"))
                .allSatisfy(part -> assertThat(part.asInt()).isBetween(0, 11));
        assertThat(named(all.at("/definitions"), "promise").has("durations")).isFalse();
    }

    @Test
    void rates_tell_how_many_runs_start_and_end_in_a_second() {
        kit.perdure.start(Invocation.of(Sample.NOTHING, null), id("nothing-1")).result(Duration.ofSeconds(20));
        Instant created = Instant.parse(kit.get("/runs/nothing-1").at("/run/created_at"));
        Awaitility.await().untilAsserted(() -> {
            Answer rates = kit.get("/statistics/rates?seconds=600").is(200);
            assertThat(Instant.parse(rates.at("/to"))).isAfter(created);
            List<JsonNode> started = StreamSupport.stream(
                            rates.json().at("/seconds").spliterator(), false)
                    .filter(second -> second.get("started").asInt() > 0)
                    .filter(second -> second.get("ended").asInt() > 0)
                    .toList();
            assertThat(started).isNotEmpty();
        });
        Answer rates = kit.get("/statistics/rates?seconds=10").is(200);
        assertThat(rates.json().at("/seconds")).hasSize(10);
        assertThat(kit.get("/statistics/rates?seconds=9").is(400).at("/detail"))
                .isEqualTo("The parameter 'seconds' is 9; it is 10 to 600.");
    }

    @Test
    void waits_tell_how_long_runs_are_ready() {
        Instant now = Instant.now();
        String span = "/statistics/waits?from=%s&to=%s&bars=2".formatted(now.minusSeconds(600), now.plusSeconds(600));
        assertThat(kit.get(span).is(200).json().at("/bars")).hasSize(2);
        kit.perdure
                .start(Invocation.of(Sample.NOTHING, null), id("waits-1").queue("slow"))
                .result(Duration.ofSeconds(20));

        JsonNode bars = kit.get(span).is(200).json().at("/bars");
        assertThat(bars.at("/0/count").asInt() + bars.at("/1/count").asInt()).isPositive();
        assertThat(bars.findValues("max_ms")).isNotEmpty();
        assertThat(kit.get("/statistics/waits?from=%s&to=%s".formatted(now, now))
                        .is(400)
                        .at("/detail"))
                .contains("less than a millisecond for each of 30 bars");
    }

    @Test
    void queues_are_remembered_when_somebody_has_looked_at_them() {
        kit.get("/queues").is(200);
        JsonNode slow = StreamSupport.stream(
                        kit.get("/statistics/queues")
                                .is(200)
                                .json()
                                .at("/queues")
                                .spliterator(),
                        false)
                .filter(queue -> queue.get("queue").asString().equals("slow"))
                .findFirst()
                .orElseThrow();
        assertThat(slow.at("/points/0").has("waiting")).isTrue();
        assertThat(slow.at("/points/0").has("begun")).isTrue();
    }

    @Test
    void a_schedule_shows_what_came_of_its_runs() {
        kit.admin("PUT", "/schedules/fired", "{\"definition\": \"nothing\", \"cron\": \"0 6 1 1 *\"}")
                .is(202);
        kit.await("/schedules/fired", "/name", "fired");
        assertThat(kit.get("/schedules/fired/runs").is(200).json().at("/runs")).isEmpty();
        String run = kit.post("/schedules/fired/trigger").is(202).at("/run");
        kit.await("/schedules/fired/runs", "/runs/0/state", "COMPLETED");

        Answer runs = kit.get("/schedules/fired/runs").is(200);
        assertThat(runs.at("/runs/0/run")).isEqualTo(run);
        assertThat(runs.at("/runs/0/result")).isEqualTo("done");
        assertThat(Instant.parse(runs.at("/runs/0/ended_at")))
                .isAfterOrEqualTo(Instant.parse(runs.at("/runs/0/created_at")));
    }

    @Test
    void objects_are_listed_with_the_calls_that_wait() {
        kit.post("/objects/counter/shop-1/add?wait=PT20S", "5").is(200);
        String holder =
                kit.post("/objects/counter/shop-2/keep", "\"anna\"").is(202).at("/id");
        String second =
                kit.post("/objects/counter/shop-2/keep", "\"berta\"").is(202).at("/id");
        String third = kit.post("/objects/counter/shop-2/add", "1").is(202).at("/id");

        assertThat(kit.get("/objects").is(200).at("/types/0")).isEqualTo("counter");
        Answer keys = kit.get("/objects/counter?prefix=shop-").is(200);
        assertThat(keys.json().at("/keys").findValuesAsString("key")).containsExactly("shop-1", "shop-2");
        assertThat(keys.json().at("/keys/0").has("holder")).isFalse();
        assertThat(keys.at("/keys/1/holder")).isEqualTo(holder);
        assertThat(keys.json().at("/keys/1/waiting").asInt()).isEqualTo(2);
        Answer page = kit.get("/objects/counter?prefix=shop-&limit=1").is(200);
        assertThat(kit.get("/objects/counter?prefix=shop-&limit=1&after=" + page.at("/next"))
                        .at("/keys/0/key"))
                .isEqualTo("shop-2");
        Answer calls = kit.get("/objects/counter/shop-2/calls").is(200);
        assertThat(calls.at("/holder/id")).isEqualTo(holder);
        assertThat(calls.json().at("/waiting").findValuesAsString("id")).containsExactly(second, third);
        Answer first = kit.get("/objects/counter/shop-2/calls?limit=1").is(200);
        assertThat(kit.get("/objects/counter/shop-2/calls?after=" + first.at("/next"))
                        .json()
                        .at("/waiting")
                        .findValuesAsString("id"))
                .containsExactly(third);
        Answer state = kit.get("/objects/counter/shop-1?limit=1").is(200);
        assertThat(state.json().at("/state/count").asInt()).isEqualTo(5);
        assertThat(state.json().has("next")).isFalse();
        assertThat(kit.get("/objects/counter/shop-1?after=count").json().at("/state"))
                .isEmpty();
        assertThat(kit.get("/objects/none").is(200).json().at("/keys")).isEmpty();
    }

    @Test
    void reactions_are_listed_paused_resumed_and_deleted() {
        Answer listed = kit.get("/reactions").is(200);
        assertThat(listed.at("/reactions/0/name")).isEqualTo("alert");
        assertThat(listed.at("/reactions/0/occasions/0")).isEqualTo("FAILED");
        assertThat(listed.at("/reactions/0/late_after")).isEqualTo("PT1H");
        assertThat(listed.at("/reactions/0/starts")).isEqualTo("alert");
        kit.post("/reactions/alert/pause", "{\"reason\": \"maintenance\"}").is(204);
        assertThat(kit.get("/reactions").at("/reactions/0/paused")).isEqualTo("maintenance");
        kit.post("/reactions/alert/resume").is(204);
        assertThat(kit.get("/reactions").json().at("/reactions/0").has("paused"))
                .isFalse();
        kit.admin("DELETE", "/reactions/alert", "").is(204);
        assertThat(kit.get("/reactions").json().at("/reactions")).isEmpty();
        assertThat(kit.post("/reactions/alert/resume").is(404).at("/title")).isEqualTo("UnknownReactionException");
        assertThat(kit.get("/audit?subject=REACTION&name=alert")
                        .json()
                        .at("/entries")
                        .findValuesAsString("operator"))
                .containsOnly("olga", "anna");
    }

    @Test
    void a_schedule_has_every_kind_of_times() {
        put("rate", "{\"definition\": \"nothing\", \"every\": \"PT10M\"}").is(202);
        kit.await("/schedules/rate", "/when", "every PT10M");
        put("delay", "{\"definition\": \"nothing\", \"after_end\": \"PT1H\", \"jitter\": \"PT1M\"}")
                .is(202);
        kit.await("/schedules/delay", "/when", "PT1H after the end of the last");
        put(
                        "once",
                        "{\"definition\": \"order\", \"input\": {\"item\": \"book\", \"cents\": 1}, \"at\": [\"2099-01-31T00:00:00Z\"], "
                                + "\"except\": [\"2099-01-30\"], \"overlap\": \"WAIT\", \"catch_up\": \"ALL\", \"catch_up_within\": \"PT1H\", "
                                + "\"until\": \"2099-12-31T00:00:00Z\", \"limit\": 3, \"pause_after\": 2, \"queue\": \"slow\", \"priority\": 5, "
                                + "\"timeout\": \"PT1H\", \"memo\": \"once\"}")
                .is(202);
        kit.await("/schedules/once", "/next/0", "2099-01-31T00:00:00Z");
        String run = kit.post("/schedules/once/trigger").is(202).at("/run");
        kit.await("/runs/" + run.replace("/", "%2F"), "/run/memo", "once");

        assertThat(put("none", "{\"definition\": \"nothing\"}").is(400).at("/detail"))
                .isEqualTo(
                        "The body does not say when the schedule fires. Give 'cron', 'every', 'after_end', 'at' or 'times'.");
        assertThat(put("none", "{\"definition\": \"nothing\", \"at\": [\"soon\"]}")
                        .is(400)
                        .at("/detail"))
                .isEqualTo("The property 'at' is 'soon'. Give times such as 2026-01-31T12:00:00Z.");
        assertThat(put("none", "{\"definition\": \"nothing\", \"at\": \"soon\"}")
                        .is(400)
                        .at("/detail"))
                .isEqualTo("The property 'at' of the body is no list of texts. Give it one.");
        assertThat(put("none", "{\"definition\": \"nothing\", \"every\": \"PT1M\", \"catch_up\": \"ALL\"}")
                        .is(400)
                        .at("/detail"))
                .isEqualTo("The properties 'catch_up' ALL and 'catch_up_within' go together. Give both, or neither.");
        assertThat(kit.get("/schedules/none").status()).isEqualTo(404);
    }

    @Test
    void a_schedule_has_every_option_of_the_java_api() {
        put("all", """
                        {"definition": "pair", "input": {"item": "torn page", "cents": 1}, "at": ["2099-01-31T00:00:00Z"],
                         "times": [{"cron": "0 6 1 1 *", "zone": "Europe/Berlin"}, {"every": "P300D"}, {"at": "2099-02-01T00:00:00Z"}],
                         "except": ["2099-01-30", "2099-01-29[Europe/Berlin]"], "pause_after": 1,
                         "when_paused": {"definition": "ask", "input": "bell"},
                         "queue": "slow", "key": "c-7", "weight": 2, "prefers": ["gpu=true"], "start_within": "PT1H",
                         "attributes": ["customer=c-7", "total=1.10", "urgent=true", "due=2099-01-31T00:00:00Z", "tags~new", "tags~blue"]}
                        """).is(202);
        kit.await("/schedules/all", "/name", "all");
        assertThat(kit.get("/schedules/all").at("/when"))
                .contains(
                        "on the 1st of January at 06:00 in Europe/Berlin (cron 0 6 1 1 *)",
                        "every PT7200H",
                        "2099-02-01T00:00:00Z");
        String run = kit.post("/schedules/all/trigger").is(202).at("/run");
        kit.await("/runs/" + run.replace("/", "%2F"), "/run/state", "FAILED");
        JsonNode attributes = kit.get("/runs/" + run.replace("/", "%2F")).json().at("/run/attributes");
        assertThat(attributes.toString())
                .isEqualTo(
                        "{\"customer\":\"c-7\",\"due\":\"2099-01-31T00:00:00Z\",\"tags\":[\"blue\",\"new\"],\"total\":1.1,\"urgent\":true}");
        assertThat(kit.get("/runs?where=customer%3Dc-7&where=tags~new&queue=slow&key=c-7&definition=pair")
                        .json()
                        .at("/runs/0/id")
                        .asString())
                .isEqualTo(run);
        Awaitility.await().untilAsserted(() -> {
            assertThat(kit.get("/schedules/all").at("/paused")).isNotEmpty();
            String paused =
                    kit.get("/runs?where=customer%3Dc-7&definition=ask&key=c-7").at("/runs/0/id");
            assertThat(kit.get("/runs/" + paused.replace("/", "%2F")).at("/input"))
                    .isEqualTo("bell");
        });
    }

    @Test
    void an_option_of_a_schedule_that_is_wrong_is_named() {
        Map<String, String> wrong = Map.of(
                "\"attributes\": [\"total>=1\"]",
                "The attribute 'total>=1' is a range. Give it a value: NAME=VALUE, or NAME~WORD for each of its keywords.",
                "\"when_paused\": {\"definition\": \"nothing\"}",
                "The body has 'when_paused' and no 'pause_after'. Say after how many failures the schedule pauses.",
                "\"when_paused\": \"nothing\", \"pause_after\": 1",
                "The property 'when_paused' is no object with 'definition', a text, and perhaps 'input'. Give it one.",
                "\"times\": [{\"every\": \"PT1H\", \"zone\": \"UTC\"}]",
                "One of the 'times' has the properties [every, zone]. Give it 'cron', also with 'zone', or 'every', or 'after_end', or 'at'.",
                "\"times\": [{\"every\": \"often\"}]",
                "The property 'every' is 'often'. Give a duration such as PT10M.",
                "\"except\": [\"2099-01-29[Mars]\"]",
                "There is no time zone 'Mars'. Give one such as Europe/Berlin.");
        wrong.forEach((property, detail) -> assertThat(
                        put("none", "{\"definition\": \"nothing\", \"every\": \"PT1H\", " + property + "}")
                                .is(400)
                                .at("/detail"))
                .isEqualTo(detail));
        kit.get("/schedules/none").is(404);
    }

    @Test
    void a_start_has_every_option_of_the_java_api() {
        kit.post(
                        "/definitions/ask/start?id=o-1&attributes=customer%3Dc-8&attributes=tags~new&attributes=tags~blue"
                                + "&weight=2&prefers=gpu%3Dtrue&start_within=PT1H&queue=slow&priority=3",
                        "\"x\"")
                .is(202);
        assertThat(kit.get("/runs?where=tags~blue&where=customer%3Dc-8&queue=slow")
                        .at("/runs/0/id"))
                .isEqualTo("o-1");
        kit.post("/definitions/ask/start?id=o-1&any_input=true", "\"y\"").is(202);
        kit.post("/definitions/ask/start?id=o-1", "\"y\"").is(409);
        kit.post("/definitions/ask/start?id=o-2&delay=PT1H&requires=gpu%3Dtrue", "\"x\"")
                .is(202);

        String first = kit.post("/definitions/ask/start?deduplication_key=d", "\"x\"")
                .is(202)
                .at("/id");
        assertThat(kit.post("/definitions/ask/start?deduplication_key=d", "\"x\"")
                        .is(202)
                        .at("/id"))
                .isEqualTo(first);
        assertThat(kit.post("/definitions/ask/start?deduplication_key=d&duplicate=REFUSE", "\"x\"")
                        .is(409)
                        .at("/detail"))
                .contains(first);
        String debounced = kit.post("/definitions/ask/start?debounce_key=b&quiet=PT1H", "\"x\"")
                .is(202)
                .at("/id");
        assertThat(kit.post("/definitions/ask/start?debounce_key=b&quiet=PT1H", "\"y\"")
                        .is(202)
                        .at("/id"))
                .isEqualTo(debounced);
        Map<String, String> wrong = Map.of(
                "deduplication_key=d&debounce_key=b&quiet=PT1S",
                "A start has one key at most: an Idempotency-Key, a 'deduplication_key' or a 'debounce_key'. Give one of them.",
                "until=BEGUN",
                "The parameter 'until' belongs to 'deduplication_key', which is missing. Give both, or neither.",
                "debounce_key=b",
                "The start has a 'debounce_key' and no 'quiet'. Say how long the run waits for another start.",
                "deduplication_key=d&duplicate=KEEP",
                "'KEEP' is no duplicate. There are: [ATTACH, REFUSE, REPLACE].");
        wrong.forEach((query, detail) -> assertThat(kit.post("/definitions/ask/start?" + query, "\"x\"")
                        .is(400)
                        .at("/detail"))
                .isEqualTo(detail));
    }

    private Answer put(String name, String json) {
        return kit.admin("PUT", "/schedules/" + name, json);
    }

    @Test
    void the_retention_has_rules() {
        Answer changed = kit.admin(
                        "PUT",
                        "/retention",
                        "{\"all\": \"P7D\", \"rules\": [{\"definition\": \"order\", \"outcome\": \"FAILED\", \"period\": \"P90D\"}, "
                                + "{\"queue\": \"slow\", \"period\": \"forever\"}]}")
                .is(200);
        assertThat(changed.at("/effective/rules/0/runs")).isEqualTo("definition 'order', outcome FAILED");
        assertThat(changed.at("/effective/rules/0/definition")).isEqualTo("order");
        assertThat(changed.at("/effective/rules/0/outcome")).isEqualTo("FAILED");
        assertThat(changed.at("/effective/rules/0/period")).isEqualTo("PT2160H");
        assertThat(changed.at("/effective/rules/1/queue")).isEqualTo("slow");
        assertThat(changed.at("/effective/rules/1/period")).isEqualTo("forever");
        assertThat(kit.admin("PUT", "/retention", "{\"all\": \"P7D\", \"rules\": [{\"queue\": \"slow\"}]}")
                        .is(400)
                        .at("/detail"))
                .isEqualTo("A rule of the retention has no 'period'. Give one such as P30D, or 'forever'.");
        assertThat(kit.admin(
                                "PUT",
                                "/retention",
                                "{\"all\": \"P7D\", \"rules\": [{\"key\": \"x\", \"period\": \"P1D\"}]}")
                        .is(400)
                        .at("/detail"))
                .isEqualTo(
                        "A rule of the retention has no property 'key'. It has 'period', 'definition', 'queue' and 'outcome'.");
        kit.admin("POST", "/retention/reset", "").is(200);
    }
}
