package dev.perdure.http;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.HistoryEvent;
import dev.perdure.Invocation;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.attribute.Attribute;
import dev.perdure.http.ApiKit.Answer;
import dev.perdure.http.security.Role;
import dev.perdure.spi.Store;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** What operators read and do, on every store. */
abstract class RoutesScenarios {
    private Store store;
    ApiKit kit;

    abstract Store open();

    @BeforeEach
    final void start() {
        store = open();
        kit = new ApiKit(store);
    }

    @AfterEach
    final void stop() {
        kit.close();
        store.close();
    }

    private void startOrder(String name) {
        kit.perdure
                .start(Invocation.of(Sample.ORDER, new Sample.Order("book", 1950)), id(name))
                .result(Duration.ofSeconds(20));
    }

    private void startAsk(String name) {
        kit.perdure.start(Invocation.of(Sample.ASK, "anna"), id(name));
    }

    @Test
    void runs_are_listed_page_by_page_and_counted() {
        for (int i = 0; i < 5; i++) {
            startOrder("o-" + i);
        }
        startAsk("a-1");
        Answer first = kit.get("/runs?definition=order&limit=3").is(200);
        assertThat(first.json().at("/runs").findValuesAsString("id")).containsExactly("o-4", "o-3", "o-2");
        Answer second = kit.get("/runs?definition=order&limit=3&after=" + first.at("/next"))
                .is(200);
        assertThat(second.json().at("/runs").findValuesAsString("id")).containsExactly("o-1", "o-0");
        assertThat(second.json().has("next")).isFalse();
        assertThat(kit.get("/runs?oldest_first=true&limit=1").at("/runs/0/id")).isEqualTo("o-0");
        Answer counts = kit.get("/runs/count?state=COMPLETED,FAILED").is(200);
        assertThat(counts.at("/counts/0/state")).isEqualTo("COMPLETED");
        assertThat(counts.json().at("/counts/0/runs").asInt()).isEqualTo(5);
        assertThat(counts.json().at("/counts")).hasSize(1);
    }

    @Test
    void runs_are_found_by_attribute_and_time() {
        kit.perdure
                .start(
                        Invocation.of(Sample.ORDER, new Sample.Order("book", 1)),
                        id("found").attribute(Attribute.number("total"), 120).memo("for anna"))
                .result();
        startOrder("other");
        Answer found = kit.get("/runs?where=total%3E%3D100").is(200);
        assertThat(found.json().at("/runs").findValuesAsString("id")).containsExactly("found");
        assertThat(found.json().at("/runs/0/attributes/total").asInt()).isEqualTo(120);
        assertThat(found.at("/runs/0/memo")).isEqualTo("for anna");
        Instant created = Instant.parse(found.at("/runs/0/created_at"));
        String span = "from=%s&to=%s".formatted(created.minusSeconds(60), created.plusSeconds(60));
        Answer histogram = kit.get("/runs/histogram?bars=4&" + span).is(200);
        assertThat(histogram.json().at("/bars")).hasSize(4);
        assertThat(histogram.json().at("/bars").findValues("runs").stream()
                        .mapToInt(runs -> runs.asInt())
                        .sum())
                .isEqualTo(2);
        assertThat(kit.get("/runs/histogram?by=ended&bars=1&" + span)
                        .json()
                        .at("/bars/0/counts/0/runs")
                        .asInt())
                .isEqualTo(2);
        assertThat(kit.get("/runs?created_before=2000-01-01T00:00:00Z").json().at("/runs"))
                .isEmpty();
    }

    @Test
    void a_run_shows_its_input_its_result_its_history_and_its_journal() {
        startOrder("o-1");
        Answer run = kit.get("/runs/o-1").is(200);
        assertThat(run.at("/run/state")).isEqualTo("COMPLETED");
        assertThat(run.at("/headers/tenant")).isEqualTo("acme");
        assertThat(run.at("/input/item")).isEqualTo("book");
        assertThat(run.json().at("/result/paid").toString()).isEqualTo("19.50");
        assertThat(kit.get("/runs/o-1/history").json().at("/history").findValuesAsString("text"))
                .contains("step 'charge' completed");
        Answer journal = kit.get("/runs/o-1/journal").is(200);
        assertThat(journal.at("/entries/0/name")).isEqualTo("charge");
        assertThat(journal.at("/entries/0/payload/item")).isEqualTo("book");
        assertThat(kit.get("/runs/o-1/journal?after=1").json().at("/entries")).isEmpty();
    }

    @Test
    void a_failed_run_shows_the_failure_and_is_forked_and_retried() {
        kit.perdure.start(Invocation.of(Sample.FAIL, "berlin"), id("f-1"));
        kit.await("/runs/f-1", "/run/state", "FAILED");
        Answer run = kit.get("/runs/f-1");
        assertThat(run.at("/failure/stack")).contains("no route to berlin");
        assertThat(kit.post("/runs/f-1/retry").is(200).at("/id")).isEqualTo("f-1");
        kit.await("/runs/f-1", "/run/state", "FAILED");
        Answer fork = kit.post("/runs/f-1/fork", "{\"position\": 1, \"id\": \"f-2\", \"input\": \"rome\"}")
                .is(201);
        assertThat(fork.at("/id")).isEqualTo("f-2");
        kit.await("/runs/f-2", "/run/state", "FAILED");
        assertThat(kit.get("/runs/f-2").at("/failure/stack")).contains("no route to rome");
        assertThat(kit.post("/runs/f-1/fork", "{\"position\": 1, \"input\": 7.5}")
                        .status())
                .isIn(201, 400);
        assertThat(kit.get("/runs/f-1/audit").is(200).json().at("/entries").findValuesAsString("action"))
                .contains("RETRY");
    }

    @Test
    void tasks_of_a_dag_are_run_again() {
        Answer failed = kit.post("/definitions/pair/start?id=d-1&wait=PT20S", "{\"item\": \"torn page\", \"cents\": 1}")
                .is(200);
        assertThat(failed.at("/state")).isEqualTo("FAILED");
        kit.post("/runs/d-1/tasks/retry-failed").is(200);
        kit.await("/runs/d-1", "/run/state", "FAILED");
        kit.post("/runs/d-1/tasks/first/rerun").is(200);
        kit.await("/runs/d-1", "/run/state", "FAILED");
        assertThat(kit.get("/runs/d-1/audit").json().at("/entries").findValuesAsString("detail"))
                .containsExactly("d-1/first, d-1/second", "d-1/second");
        assertThat(kit.post("/runs/d-1/tasks/third/rerun").is(400).at("/detail"))
                .isEqualTo("Run 'd-1' has no task 'third'. Look at its status().");
        startAsk("a-1");
        assertThat(kit.post("/runs/a-1/tasks/retry-failed").is(409).at("/detail"))
                .startsWith("Run 'a-1' is ")
                .endsWith("Tasks can be begun anew only when it has ended: wait, or cancel it.");
    }

    @Test
    void commands_are_recorded_under_the_name_of_the_caller() {
        startAsk("a-1");
        kit.post("/runs/a-1/pause", "{\"reason\": \"look at it\"}").is(200);
        kit.await("/runs/a-1", "/run/state", "PAUSED");
        kit.post("/runs/a-1/resume").is(200);
        kit.post("/runs/a-1/cancel").is(200);
        kit.await("/runs/a-1", "/run/state", "CANCELLED");
        Answer audit = kit.get("/runs/a-1/audit").is(200);
        assertThat(audit.json().at("/entries").findValuesAsString("action"))
                .containsExactly("CANCEL", "RESUME", "PAUSE");
        assertThat(audit.json().at("/entries").findValuesAsString("operator")).containsOnly("olga");
        assertThat(audit.json().at("/entries").findValuesAsString("origin")).containsOnly("127.0.0.1");
        assertThat(audit.at("/entries/2/detail")).isEqualTo("look at it");
        Answer again = kit.post("/runs/a-1/kill").is(409);
        assertThat(again.at("/title")).isEqualTo("RunEndedException");
        assertThat(again.at("/detail"))
                .isEqualTo("Run 'a-1' has ended (CANCELLED); nothing was done. Retry or fork it to let it continue.");
        Answer page = kit.get("/audit?limit=2").is(200);
        assertThat(kit.get("/audit?subject=RUN&name=a-1&limit=2&after=" + page.at("/next"))
                        .json()
                        .at("/entries"))
                .hasSize(1);
    }

    @Test
    void a_step_of_a_paused_run_is_repaired() {
        startAsk("a-1");
        Answer refused = kit.post("/runs/a-1/repair", "{\"position\": 1, \"why\": \"wrong\"}")
                .is(400);
        assertThat(refused.at("/detail")).isEqualTo("Give the outcome of the step: either 'value' or 'failure'.");
        kit.perdure.start(Invocation.of(Sample.FAIL, "berlin"), id("f-1"));
        kit.await("/runs/f-1", "/run/state", "FAILED");
        kit.post("/runs/f-1/repair", "{\"position\": 1, \"value\": \"found\", \"why\": \"by phone\"}")
                .is(200);
        kit.post("/runs/f-1/retry").is(200);
        kit.await("/runs/f-1", "/run/state", "COMPLETED");
        assertThat(kit.get("/runs/f-1").at("/result")).isEqualTo("found");
    }

    @Test
    void a_run_that_has_ended_is_deleted_by_an_administrator() {
        startOrder("o-1");
        kit.admin("DELETE", "/runs/o-1", "").is(204);
        assertThat(kit.get("/runs/o-1").is(404).at("/title")).isEqualTo("UnknownRunException");
        startAsk("a-1");
        assertThat(kit.admin("DELETE", "/runs/a-1", "").is(409).at("/title")).isEqualTo("DeleteRefused");
    }

    @Test
    void tasks_children_and_mail_are_shown() {
        kit.perdure
                .start(Invocation.of(Sample.PAIR, new Sample.Order("pen", 1)), id("d-1"))
                .result();
        Answer tasks = kit.get("/runs/d-1/tasks").is(200);
        assertThat(tasks.at("/tasks/1/run/id")).isEqualTo("d-1/second");
        assertThat(tasks.at("/tasks/1/after/0")).isEqualTo("d-1/first");
        assertThat(kit.get("/runs/d-1%2Fsecond").is(200).at("/result")).isEqualTo("pen!");
        kit.perdure
                .start(Invocation.of(Sample.PARENT, new Sample.Order("pen", 1)), id("p-1"))
                .result();
        assertThat(kit.get("/runs/p-1/children").is(200).at("/children/0/run/definition"))
                .isEqualTo("order");
        kit.perdure.start(Invocation.of(Sample.LISTEN, "x"), id("l-1"));
        kit.post("/runs/l-1/messages/approval", "\"yes\"").is(204);
        Answer mail = kit.get("/runs/l-1/mail").is(200);
        assertThat(mail.at("/mail/0/name")).isEqualTo("approval");
        assertThat(mail.at("/mail/0/payload")).isEqualTo("yes");
    }

    @Test
    void a_bulk_action_is_previewed_started_and_followed() {
        startAsk("a-1");
        startAsk("a-2");
        startOrder("o-1");
        Answer preview = kit.get("/bulk/preview?definition=ask&action=CANCEL").is(200);
        assertThat(kit.get("/bulk/preview?definition=ask").is(400).at("/detail"))
                .isEqualTo("The query has no parameter 'action'. Say which bulk action, such as action=RETRY.");
        assertThat(preview.json().findValues("runs").stream()
                        .mapToInt(runs -> runs.asInt())
                        .sum())
                .isEqualTo(2);
        Answer started = kit.post("/bulk?definition=ask", "{\"action\": \"CANCEL\", \"text\": \"too many\"}")
                .is(202);
        String bulk = started.at("/run/id");
        kit.await("/bulk/" + bulk, "/run/state", "COMPLETED");
        assertThat(kit.get("/bulk/" + bulk).json().at("/report/changed").asInt())
                .isEqualTo(2);
        kit.await("/runs/a-1", "/run/state", "CANCELLED");
        for (String query : List.of("", "?", "?all=false")) {
            assertThat(kit.post("/bulk" + query, "{\"action\": \"CANCEL\"}")
                            .is(400)
                            .at("/detail"))
                    .as(query)
                    .isEqualTo(
                            "The query has no condition, so this would be for all runs. Give one, such as definition=order, or all=true.");
        }
        kit.post("/bulk?all=true", "{\"action\": \"CANCEL\"}").is(202);
        assertThat(kit.post("/bulk", "{\"action\": \"DELETE\"}").is(403).at("/title"))
                .isEqualTo("RoleMissing");
        assertThat(kit.get("/bulk/o-1").is(404).at("/title")).isEqualTo("UnknownBulkAction");
    }

    @Test
    void queues_and_limiters_are_shown_and_changed() {
        assertThat(kit.get("/queues").is(200).json().at("/queues").findValuesAsString("name"))
                .contains("default", "slow");
        kit.post("/queues/slow/pause", "{\"reason\": \"partner is down\"}").is(200);
        assertThat(kit.get("/queues/slow").at("/paused")).isEqualTo("partner is down");
        kit.post("/queues/slow/resume").is(200);
        Answer changed = kit.post(
                        "/queues/slow/limits", "{\"settings\": {\"concurrency\": \"5\", \"rate\": \"100/PT1S\"}}")
                .is(200);
        assertThat(changed.at("/changed/concurrency")).isEqualTo("5");
        assertThat(changed.at("/changed/rate")).isEqualTo("100/PT1S");
        assertThat(kit.post("/queues/slow/reset").is(200).json().at("/changed")).isEmpty();
        kit.get("/queues/slow/keys?limit=5").is(200);
        assertThat(kit.post("/queues/none/resume").is(404).at("/title")).isEqualTo("UnknownQueueException");
        assertThat(kit.post("/queues/slow/limits", "{\"settings\": {\"speed\": \"5\"}}")
                        .is(400)
                        .at("/detail"))
                .isEqualTo("A queue has no setting 'speed'. Use those that GET shows.");
        assertThat(kit.get("/limiters").is(200).at("/limiters/0/name")).isEqualTo("partner");
        kit.post("/limiters/partner/pause", "{\"reason\": \"down\"}").is(200);
        assertThat(kit.get("/limiters/partner").is(200).at("/paused")).isEqualTo("down");
        kit.post("/limiters/partner/resume").is(200);
        assertThat(kit.post("/limiters/partner/limits", "{\"settings\": {\"concurrency\": \"none\"}}")
                        .is(200)
                        .at("/changed/concurrency"))
                .isEqualTo("none");
        kit.post("/limiters/partner/reset").is(200);
    }

    @Test
    void a_schedule_is_made_triggered_paused_and_deleted() {
        String nightly = "{\"cron\": \"0 2 * * *\", \"zone\": \"Europe/Berlin\", \"definition\": \"nothing\"}";
        kit.admin("PUT", "/schedules/nightly", nightly).is(202);
        kit.await("/schedules/nightly", "/when", "every day at 02:00 in Europe/Berlin (cron 0 2 * * *)");
        assertThat(kit.get("/schedules/nightly").json().at("/next")).isNotEmpty();
        String run = kit.post("/schedules/nightly/trigger").is(202).at("/run");
        Awaitility.await().untilAsserted(() -> kit.get("/runs/" + run).is(200));
        kit.post("/schedules/nightly/pause", "{\"note\": \"holidays\"}").is(202);
        kit.await("/schedules/nightly", "/paused", "holidays");
        kit.post("/schedules/nightly/resume").is(202);
        kit.post("/schedules/nightly/skip-next").is(202);
        kit.post("/schedules/nightly/reset").is(202);
        kit.post(
                        "/schedules/nightly/backfill",
                        "{\"from\": \"2026-01-01T00:00:00Z\", \"to\": \"2026-01-01T01:00:00Z\"}")
                .is(202);
        assertThat(kit.get("/schedules").is(200).json().at("/schedules").findValuesAsString("name"))
                .contains("nightly");
        kit.admin("DELETE", "/schedules/nightly", "").is(202);
        Awaitility.await().untilAsserted(() -> kit.get("/schedules/nightly").is(404));
        assertThat(kit.admin("PUT", "/schedules/x", nightly.replace("nothing", "unknown"))
                        .is(404)
                        .at("/title"))
                .isEqualTo("UnknownDefinition");
    }

    @Test
    void a_version_is_shown_drained_and_resumed() {
        assertThat(kit.get("/versions").is(200).at("/versions/0/name")).isEqualTo("v1");
        Answer workers = kit.get("/workers").is(200);
        assertThat(workers.json().at("/workers")).hasSize(1);
        assertThat(workers.at("/workers/0/version")).isEqualTo("v1");
        assertThat(workers.json().at("/workers/0/definitions").toString()).contains("\"ask\"", "\"order\"");
        assertThat(workers.json().at("/workers/0/draining").asBoolean()).isFalse();
        kit.post("/versions/v1/drain", "{\"definition\": \"ask\"}").is(204);
        assertThat(draining("ask")).isTrue();
        assertThat(draining("order")).isFalse();
        kit.post("/versions/v1/resume", "{\"definition\": \"ask\"}").is(204);
        assertThat(draining("ask")).isFalse();
        assertThat(kit.post("/versions/v9/drain").is(404).at("/title")).isEqualTo("UnknownVersionException");
    }

    private boolean draining(String definition) {
        for (var each : kit.get("/versions/v1").is(200).json().at("/definitions")) {
            if (each.get("name").asString().equals(definition)) {
                return each.get("draining").asBoolean();
            }
        }
        throw new AssertionError("No definition " + definition);
    }

    @Test
    void the_store_and_the_retention_are_shown_and_changed() {
        Answer status = kit.get("/status").is(200);
        assertThat(status.json().at("/workers").asInt()).isEqualTo(1);
        assertThat(kit.get("/retention").is(200).at("/effective/all")).isEqualTo("PT720H");
        Answer changed = kit.admin("PUT", "/retention", "{\"all\": \"P7D\", \"audit\": \"forever\"}")
                .is(200);
        assertThat(changed.at("/effective/all")).isEqualTo("PT168H");
        assertThat(changed.at("/effective/audit")).isEqualTo("forever");
        assertThat(kit.admin("POST", "/retention/reset", "").is(200).json().has("changed"))
                .isFalse();
        assertThat(kit.get("/definitions").is(200).json().at("/definitions").findValuesAsString("name"))
                .containsExactly(
                        "alert",
                        "ask",
                        "count-up",
                        "counter/add",
                        "counter/keep",
                        "fail",
                        "hook",
                        "listen",
                        "load",
                        "many",
                        "nothing",
                        "order",
                        "pair",
                        "parent",
                        "promise",
                        "signed");
        assertThat(kit.get("/openapi.json").is(200).at("/openapi")).isEqualTo("3.1.0");
    }

    // ---- applications

    @Test
    void a_workflow_is_started_with_json_and_its_result_awaited() {
        Answer done = kit.post("/definitions/order/start?wait=PT20S&id=o-1", "{\"item\": \"book\", \"cents\": 1950}")
                .is(200);
        assertThat(done.json().at("/result/paid").toString()).isEqualTo("19.50");
        assertThat(kit.get("/runs/o-1/result").is(200).at("/state")).isEqualTo("COMPLETED");
        Answer waiting = kit.post("/definitions/ask/start?id=a-1&memo=hi&queue=default&priority=3", "\"anna\"")
                .is(202);
        assertThat(waiting.at("/id")).isEqualTo("a-1");
        kit.get("/runs/a-1/result?wait=PT0.2S").is(202);
        kit.post("/runs/a-1/messages/approval", "\"yes\"").is(204);
        assertThat(kit.get("/runs/a-1/result?wait=PT20S").is(200).at("/result")).isEqualTo("anna: yes");
        kit.post("/definitions/nothing/start?wait=PT20S").is(200);
        Answer failed =
                kit.post("/definitions/fail/start?wait=PT20S", "\"rome\"").is(200);
        assertThat(failed.at("/state")).isEqualTo("FAILED");
        assertThat(failed.at("/failure/stack")).contains("no route to rome");
        assertThat(kit.post("/definitions/pair/start?wait=PT20S", "{\"item\": \"pen\", \"cents\": 1}")
                        .is(200)
                        .at("/result"))
                .isEqualTo("pen!");
    }

    @Test
    void an_idempotency_key_makes_repeated_requests_one_start() {
        var request =
                ApiKit.request("POST", "/definitions/ask/start", Role.OPERATOR).with("Idempotency-Key", "req-1");
        Answer first = kit.send(ApiKit.withBody(request, "\"anna\"")).is(202);
        Answer second = kit.send(ApiKit.withBody(request, "\"anna\"")).is(202);
        assertThat(second.at("/id")).isEqualTo(first.at("/id"));
        assertThat(kit.send(ApiKit.withBody(request, "\"berta\"")).is(409).at("/title"))
                .isEqualTo("RunConflictException");
    }

    @Test
    void an_input_that_does_not_fit_the_signature_writes_nothing() {
        assertThat(kit.post("/definitions/order/start", "{\"item\": \"book\", \"cents\": \"many\"}")
                        .is(400)
                        .at("/detail"))
                .startsWith("The input does not fit 'order'.")
                .contains("Give it as JSON of the type dev.perdure.http.Sample$Order.");
        assertThat(kit.post("/definitions/order/start", "{\"item\": \"book\", \"cents\": 1, \"colour\": \"red\"}")
                        .is(400)
                        .at("/detail"))
                .contains("colour");
        assertThat(kit.post("/definitions/order/start").is(400).at("/detail"))
                .isEqualTo("'order' takes an input of type dev.perdure.http.Sample$Order. Give it as JSON.");
        assertThat(kit.post("/definitions/nothing/start", "7").is(400).at("/detail"))
                .isEqualTo("'nothing' takes no input. Leave it out.");
        kit.post("/definitions/none/start", "7").is(404);
        kit.post("/definitions/order/start?id=a&wait=PT10H", "{\"item\": \"book\", \"cents\": 1}")
                .is(400);
        assertThat(kit.get("/runs").json().at("/runs")).isEmpty();
    }

    @Test
    void promises_events_and_awakeables_are_answered() throws InterruptedException {
        kit.perdure.start(Invocation.of(Sample.PROMISE, "x"), id("p-1"));
        kit.post("/runs/p-1/promises/approval/resolve", "\"yes\"").is(204);
        assertThat(kit.get("/runs/p-1/result?wait=PT20S").at("/result")).isEqualTo("yes");
        kit.perdure.start(Invocation.of(Sample.LISTEN, "x"), id("l-1"));
        Awaitility.await()
                .untilAsserted(() -> assertThat(kit.post("/events/approval?key=eu", "\"go\"")
                                .is(200)
                                .json()
                                .at("/reached")
                                .asInt())
                        .isEqualTo(1));
        assertThat(kit.get("/runs/l-1/result?wait=PT20S").at("/result")).isEqualTo("go");
        kit.perdure.start(Invocation.of(kit.sample.hook(), "x"), id("h-1"));
        String token = kit.sample.tokens.take();
        kit.post("/awakeables/" + token + "/resolve", "{\"paid\": 1.10}").is(204);
        assertThat(kit.get("/runs/h-1/result?wait=PT20S")
                        .json()
                        .at("/result/paid")
                        .toString())
                .isEqualTo("1.10");
        assertThat(kit.post("/awakeables/" + token + "/resolve", "{}").status()).isIn(404, 409);
        kit.perdure.start(Invocation.of(kit.sample.hook(), "x"), id("h-2"));
        kit.post("/awakeables/" + kit.sample.tokens.take() + "/reject", "{\"reason\": \"no money\"}")
                .is(204);
        assertThat(kit.get("/runs/h-2/result?wait=PT20S").is(200).at("/state")).isEqualTo("FAILED");
        assertThat(kit.post("/awakeables/wrong/resolve", "{}").is(404).at("/title"))
                .isEqualTo("UnknownTokenException");
    }

    /** All pages of a list, of which each has this many values at most. */
    private List<String> paged(String path, String list, int limit, String value) {
        List<String> all = new ArrayList<>();
        String place = "";
        do {
            JsonNode page = kit.get(path + "?limit=" + limit + place).is(200).json();
            assertThat(page.get(list).size()).isLessThanOrEqualTo(limit);
            page.get(list).forEach(each -> all.add(each.at(value).asString()));
            place = page.has("next")
                    ? "&after=" + URLEncoder.encode(page.get("next").asString(), StandardCharsets.UTF_8)
                    : "";
            assertThat(all).as("pages go on").hasSizeLessThan(1_000);
        } while (!place.isEmpty());
        return all;
    }

    @Test
    void long_lists_are_read_in_pages() {
        kit.post("/definitions/many/start?id=m-1&wait=PT20S", "5").is(200);
        List<String> children = paged("/runs/m-1/children", "children", 1_000, "/run/id");
        assertThat(children).hasSize(5);
        assertThat(paged("/runs/m-1/children", "children", 2, "/run/id")).isEqualTo(children);
        List<String> history = paged("/runs/m-1/history", "history", 1_000, "/text");
        assertThat(history).hasSizeGreaterThan(6);
        assertThat(paged("/runs/m-1/history", "history", 1, "/text")).isEqualTo(history);
        kit.post("/definitions/pair/start?id=d-1&wait=PT20S", "{\"item\": \"book\", \"cents\": 1}")
                .is(200);
        assertThat(paged("/runs/d-1/tasks", "tasks", 1, "/run/id")).containsExactly("d-1/first", "d-1/second");
        assertThat(paged("/runs/d-1/tasks", "tasks", 1, "/after/0")).containsExactly("", "d-1/first");
        for (String wrong : List.of(
                "/runs/d-1/tasks?after=x",
                "/runs/d-1/tasks?after=x@2026-01-31T12:00:00Z",
                "/runs/m-1/children?after=1@x",
                "/runs/m-1/children?after=1@%2B100000-01-01T00:00:00Z",
                "/runs/m-1/history?after=x",
                "/runs/m-1/history?after=1_0_1_0_x_y")) {
            assertThat(kit.get(wrong).is(400).at("/detail"))
                    .isEqualTo("The parameter 'after' is not one that this API has given. Give the 'next' of a page.");
        }
    }

    @Test
    void the_pages_of_a_history_are_the_history() throws InterruptedException {
        kit.post("/definitions/many/start?id=m-1&wait=PT20S", "5").is(200);
        kit.post("/definitions/fail/start?id=f-1&wait=PT20S", "\"x\"").is(200);
        kit.post("/runs/f-1/retry").is(200);
        kit.await("/runs/f-1", "/run/state", "FAILED");
        kit.perdure.start(Invocation.of(kit.sample.hook(), "x"), id("h-1"));
        kit.sample.tokens.take();
        kit.post("/runs/h-1/awakeables/1/resolve", "{\"value\": {\"by\": \"phone\"}}")
                .is(200);
        kit.get("/runs/h-1/result?wait=PT20S").is(200);
        kit.perdure.start(Invocation.of(kit.sample.load(), "catalogue"), id("l-1"));
        kit.await("/runs/l-1", "/progress/0/message", "page 1 of 2");
        for (String run : List.of("m-1", "f-1", "h-1", "l-1")) {
            List<String> history = kit.perdure.run(RunId.of(run), TypeRef.of(Void.class)).history().stream()
                    .map(HistoryEvent::text)
                    .toList();
            for (int limit : new int[] {1, 2, 3, 1_000}) {
                assertThat(paged("/runs/" + run + "/history", "history", limit, "/text"))
                        .as("%s by %d", run, limit)
                        .isEqualTo(history);
            }
        }
        kit.sample.loads.add("go");
    }

    @Test
    void an_operator_answers_an_awakeable_without_its_token() throws InterruptedException {
        kit.perdure.start(Invocation.of(kit.sample.hook(), "x"), id("h-1"));
        kit.sample.tokens.take();
        kit.post("/runs/h-1/awakeables/1/resolve", "{\"value\": {\"by\": \"phone\"}}")
                .is(200);
        assertThat(kit.get("/runs/h-1/result?wait=PT20S").at("/result/by")).isEqualTo("phone");
        kit.perdure.start(Invocation.of(kit.sample.hook(), "x"), id("h-2"));
        kit.sample.tokens.take();
        kit.post("/runs/h-2/awakeables/1/reject", "{\"reason\": \"fraud\"}").is(200);
        assertThat(kit.get("/runs/h-2/result?wait=PT20S").at("/reason")).contains("fraud");
    }

    @Test
    void an_object_is_called_and_its_state_shown() {
        assertThat(kit.post("/objects/counter/c-1/add?wait=PT20S", "5")
                        .is(200)
                        .json()
                        .at("/result")
                        .asInt())
                .isEqualTo(5);
        kit.post("/objects/counter/c-1/add?wait=PT20S", "2").is(200);
        assertThat(kit.get("/objects/counter/c-1")
                        .is(200)
                        .json()
                        .at("/state/count")
                        .asInt())
                .isEqualTo(7);
        kit.post("/objects/counter/c-1/none", "2").is(404);
        assertThat(kit.post("/definitions/counter%2Fadd/start", "2").is(400).at("/detail"))
                .contains("Call it with POST /objects/");
    }

    @Test
    void what_a_run_publishes_is_listed() {
        kit.perdure.start(Invocation.of(Sample.COUNT_UP, 3), StartOptions.id("c-1"));
        Awaitility.await()
                .untilAsserted(() -> assertThat(kit.get("/runs/c-1/published/progress")
                                .is(200)
                                .json()
                                .at("/values")
                                .findValuesAsString("value"))
                        .containsExactly("1", "2", "3"));
        String second = kit.get("/runs/c-1/published/progress")
                .json()
                .at("/values/1/offset")
                .toString();
        assertThat(kit.get("/runs/c-1/published/progress?after=" + second)
                        .json()
                        .at("/values")
                        .findValuesAsString("value"))
                .containsExactly("3");
        assertThat(kit.perdure.run(RunId.of("c-1"), TypeRef.of(Void.class)).state())
                .isNotEqualTo(RunState.COMPLETED);
    }
}
