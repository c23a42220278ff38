package dev.perdure.dashboard;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.audit.AuditFilter;
import dev.perdure.dag.DagRun;
import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.object.ObjectHandle;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.queue.Queue;
import dev.perdure.schedule.Schedule;
import dev.perdure.version.VersionInfo;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A person with a browser, a real PostgreSQL and real workers. */
class BrowserIT {
    private static final String SCRIPT = "<img src=x onerror=\"window.stolen=1\"><script>window.stolen=1</script>";

    private static EmbeddedPostgres postgres;
    private static HikariDataSource pool;
    private static PostgresStore store;
    private static Perdure perdure;
    private static Dashboard dashboard;
    private static Chromium chromium;

    /** The tab of most tests: one document, in which they go from page to page. */
    private static Tab tab;

    @BeforeAll
    static void start() {
        Optional<Path> program = Chromium.find();
        if (System.getenv("PERDURE_REQUIRE_BROWSER") == null) {
            assumeThat(program)
                    .as("No Chromium on this machine: set CHROME_BIN, or install it, to run the browser tests.")
                    .isPresent();
        }
        CompletableFuture<Chromium> starting =
                CompletableFuture.supplyAsync(() -> Chromium.start(program.orElseThrow()));
        postgres = EmbeddedPostgres.start(EmbeddedPostgres.options());
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(postgres.jdbcUrl());
        config.setUsername(postgres.user());
        config.setPassword(postgres.password());
        config.setMaximumPoolSize(20);
        pool = new HikariDataSource(config);
        store = PostgresStore.on(pool).open();
        perdure = Perdure.on(store)
                .version("v1")
                .register(new TestShop(), new TestShop.Shelf(), TestShop.WIDE, TestShop.CHAIN)
                .queues("default")
                .queues(Queue.named("narrow").concurrency(1))
                .schedules(Schedule.cron("nightly", "30 2 * * *", ZoneOffset.UTC, Invocation.of(TestShop::report)))
                .start();
        dashboard = Dashboard.on(perdure).period(Duration.ofMillis(500)).start();
        chromium = starting.join();
        tab = opened();
    }

    private static Tab opened() {
        Tab opened = chromium.open(1280, 900);
        opened.go(page("/"));
        opened.sees("Overview");
        return opened;
    }

    @AfterAll
    static void stop() throws Exception {
        for (AutoCloseable one : new AutoCloseable[] {chromium, dashboard, perdure, store, pool, postgres}) {
            if (one != null) {
                one.close();
            }
        }
    }

    @BeforeEach
    void prepare() {
        if (tab.evaluate("document.querySelector('dialog[open]') !== null").asBoolean()) { // a test has failed
            tab.go(page("/"));
        }
        tab.size(1280, 900);
        tab.forgetComplaints();
    }

    /** A page, for those who have the token. */
    private static String page(String path) {
        return "%s#%s".formatted(withoutToken(path), dashboard.address().getFragment());
    }

    private static String withoutToken(String path) {
        return "http://%s%s".formatted(dashboard.address().getAuthority(), path);
    }

    private static void awaitState(Run<?> run, RunState state) {
        await().until(() -> run.state() == state);
    }

    @Test
    void a_failed_run_is_found_looked_at_retried_and_seen_to_end() {
        TestShop.refused = true;
        Run<String> run = perdure.start(TestShop::order, "a lamp", id("order-1"));
        awaitState(run, RunState.FAILED);

        tab.visit("/");
        tab.click("Runs");
        tab.click("In trouble");
        tab.awaits("location.search.includes('state=FAILED')");
        tab.click("order-1");
        tab.sees("The card was refused.");
        tab.awaits("document.querySelectorAll('.wr').length >= 3");
        tab.awaits("document.querySelector('.wr .fail')");
        tab.clickOn(".wr.bad");
        tab.sees("Attempts");
        tab.sees("TestShop.java");

        TestShop.refused = false;
        tab.click("Retry from failed");
        tab.awaits("document.querySelector('.badge').textContent === 'COMPLETED'");
        tab.sees("Result");
        assertThat(run.result()).isEqualTo("paid for a lamp");
        assertThat(tab.complaints()).isEmpty();
    }

    @Test
    void many_runs_are_cancelled_together_after_a_question() {
        for (int i = 0; i < 12; i++) {
            perdure.start(TestShop::sleeper, "x", id("sleeper-" + i));
        }

        tab.visit("/runs?definition=sleeper");
        tab.sees("12 runs");
        tab.clickOn("th input[type=checkbox]");
        tab.click("Cancel 12…");
        tab.sees("Cancel 12 runs?");
        tab.type("dialog[open] input", "Not needed any more");
        tab.click("Cancel 12 runs");
        tab.seesNo("Cancel 12 runs?");
        tab.visit("/runs?definition=sleeper&state=CANCELLED");
        tab.sees("12 runs");
    }

    @Test
    void all_runs_of_a_filter_are_cancelled_on_the_server_with_progress() {
        for (int i = 0; i < 60; i++) {
            perdure.start(TestShop::dozer, "x", id("dozer-" + i));
        }

        tab.visit("/runs?definition=dozer");
        tab.sees("60 runs");
        tab.clickOn("td input[type=checkbox]");
        tab.click("Select all 60");
        tab.click("Cancel…");
        tab.sees("Cancel 60 runs?");
        tab.click("Cancel 60 runs");
        tab.sees("Done: 60 changed");
    }

    @Test
    void an_awakeable_is_resolved() {
        Run<String> run = perdure.start(TestShop::approval, "a chair", id("approval-1"));
        awaitState(run, RunState.SUSPENDED);

        tab.visit("/runs/approval-1");
        tab.clickOn(".wr[data-key='1']");
        tab.click("Resolve this awakeable…");
        tab.type("dialog[open] textarea", "\"yes\"");
        tab.click("Resolve it");
        tab.awaits("document.querySelector('.badge').textContent === 'COMPLETED'");
        assertThat(run.result()).isEqualTo("yes");
    }

    @Test
    void a_schedule_is_paused_and_resumed() {
        tab.visit("/schedules");
        tab.click("nightly");
        tab.click("Pause");
        tab.awaits("document.querySelector('.cr .paused')");
        tab.click("Resume");
        tab.awaits("!document.querySelector('.cr .paused')");
    }

    @Test
    @Tag("thorough")
    void a_graph_of_500_tasks_is_drawn_and_stays_usable() {
        perdure.start(TestShop.WIDE, "x", id("wide-1").delay(Duration.ofHours(1))); // it need not run to be drawn

        tab.visit("/runs/wide-1?tab=graph");
        tab.awaits("document.querySelectorAll('.dag a').length === 500");
        assertThat(tab.evaluate("""
                (boxes => boxes.filter(([x, y], index) => boxes.some(([left, top], other) =>
                    other !== index && Math.abs(left - x) < 132 && Math.abs(top - y) < 46)).length)(
                  [...document.querySelectorAll('.dag a > g')].map(box => box.getAttribute('transform').match(/[\\d.]+/g).map(Number)))""").asInt())
                .as("boxes that lie over each other")
                .isZero();
        tab.clickOn(".dag a[aria-label^='t7-7,']");
        tab.sees("t6-7, t6-14"); // what it comes after
        tab.awaits("document.querySelector('.dr') && document.querySelectorAll('.selbox').length === 1");
        assertThat(tab.complaints()).isEmpty();
    }

    @Test
    void a_failed_dag_is_retried_from_failed_and_a_task_is_run_again() {
        TestShop.refused = true;
        DagRun<String> run = perdure.start(TestShop.CHAIN, "x", id("chain-1"));
        awaitState(run, RunState.FAILED);

        tab.visit("/runs/chain-1");
        tab.awaits("document.querySelectorAll('.dag a').length === 3");
        tab.clickOn(".dag a[aria-label^='second, FAILED']");
        tab.sees("The card was refused.");
        TestShop.refused = false;
        tab.click("Retry from failed");
        tab.awaits("document.querySelector('.badge').textContent === 'COMPLETED'");
        assertThat(run.result()).isEqualTo("paid for 1!");

        Instant before = run.info().changedAt();
        tab.click("Run again…");
        tab.sees("task comes after it and runs again too: third.");
        tab.click("Run it again");
        await().until(() -> run.info().changedAt().isAfter(before) && run.state() == RunState.COMPLETED);
        assertThat(perdure.audit().list(AuditFilter.run("chain-1")).getFirst().detail())
                .isEqualTo("chain-1/second, chain-1/third");
        assertThat(tab.complaints()).isEmpty();
    }

    @Test
    void a_step_that_has_not_ended_shows_its_progress_its_log_and_what_the_run_publishes() {
        Run<String> run = perdure.start(TestShop::load, "a list", id("import-1"));

        tab.visit("/runs/import-1");
        tab.sees("page 4 of 10");
        tab.awaits("document.querySelector('.progress svg[aria-label=\"40 %\"]')");
        tab.awaits("document.querySelector('.wr[data-key=\"2\"] .f-running')");
        TestShop.IMPORTS.release();
        tab.awaits("document.querySelector('.badge').textContent === 'COMPLETED'");
        tab.awaits("!document.querySelector('.progress')");
        tab.click("Log");
        tab.sees("Page 3 is empty.");
        tab.sees("Loads a list.");
        tab.click("Warnings");
        tab.seesNo("Loads a list.");
        tab.sees("Page 3 is empty.");
        tab.click("Published");
        tab.sees("begins with a list");
        tab.sees("has loaded it");
        assertThat(run.result()).isEqualTo("a list");
        assertThat(tab.complaints()).isEmpty();
    }

    @Test
    void the_columns_of_the_list_are_chosen_and_kept() {
        perdure.start(TestShop::approval, "x", id("column-1").memo("for anna").attribute(TestShop.NAME, "berta"));

        tab.visit("/runs?id_prefix=column-");
        tab.clickOn(".menu summary");
        tab.check("Memo");
        tab.check("name");
        tab.check("Definition");
        tab.sees("for anna");
        tab.visit("/runs?id_prefix=column-&order=oldest");
        tab.sees("for anna");
        tab.sees("berta");
        tab.awaits("![...document.querySelectorAll('th')].some(one => one.textContent === 'Definition')");
        tab.evaluate("localStorage.clear()");
    }

    @Test
    void a_definition_is_drained_in_a_version_and_resumed() {
        tab.visit("/workers");
        tab.sees("1 worker alive");
        tab.awaits("[...document.querySelectorAll('td')].some(one => /MB of/.test(one.textContent))"); // its heap
        tab.click("v1");
        tab.clickIn("tr", "report", "Drain…");
        tab.sees("Drain report in v1?");
        tab.click("Drain it");
        tab.seesNo("Drain report in v1?");
        assertThat(perdure.versions().get("v1").definitions())
                .filteredOn(VersionInfo.Definition::draining)
                .extracting(VersionInfo.Definition::name)
                .containsExactly("report");
        tab.sees("takes no more");
        tab.clickIn("tr", "report", "Resume");
        tab.seesNo("takes no more");
        assertThat(perdure.versions().get("v1").definitions()).noneMatch(VersionInfo.Definition::draining);
    }

    @Test
    void a_queue_says_why_runs_wait_and_its_limit_is_changed_and_taken_back() {
        perdure.start(TestShop::approval, "x", id("narrow-1").queue("narrow"));
        perdure.start(TestShop::approval, "x", id("narrow-2").queue("narrow"));

        tab.visit("/queues");
        tab.click("narrow");
        tab.sees("All 1 places are taken, so 1 run waits.");
        tab.awaits("document.querySelectorAll('.plot path.ln[d^=M]').length === 3");
        tab.awaits("document.querySelector('tr[aria-selected] .spark path[d^=M]')");
        tab.type(".limits input", "2");
        tab.click("Change the limits");
        tab.sees("the code says 1");
        tab.sees("No run waits.");
        tab.click("Go back to those of the code");
        tab.seesNo("the code says 1");
        assertThat(perdure.queues().get("narrow").changed().settings()).isEmpty();
        assertThat(tab.complaints()).isEmpty();
    }

    @Test
    void a_definition_shows_where_its_time_goes_and_what_it_fails_with_and_starts_a_run() {
        TestShop.refused = true;
        awaitState(perdure.start(TestShop::order, "a vase", id("vase-1")), RunState.FAILED);
        TestShop.refused = false;
        perdure.start(TestShop::order, "a vase", id("vase-2")).result();

        tab.type("#search", "order");
        tab.evaluate("document.querySelector('form.find').requestSubmit()");
        tab.awaits("location.pathname === '/definitions/order'");
        tab.forgetComplaints(); // the browser notes that there is no run of this id
        tab.sees("Where the time goes");
        tab.awaits("[...document.querySelectorAll('td')].some(one => one.textContent === 'reserve')");
        tab.sees("The card was refused.");
        tab.type("textarea", "\"a pot\"");
        tab.type("form.form input", "pot-1");
        tab.click("Start a run");
        tab.awaits("location.pathname === '/runs/pot-1'");
        tab.sees("paid for a pot");
        assertThat(tab.complaints()).isEmpty();
    }

    @Test
    void the_overview_shows_rates_waits_definitions_and_errors_over_a_span() {
        TestShop.refused = true;
        awaitState(perdure.start(TestShop::order, "a clock", id("clock-1")), RunState.FAILED);
        TestShop.refused = false;
        Run<String> waited =
                perdure.start(TestShop::oneStep, "x", id("waited-1").queue("narrow"));
        perdure.queues().limit(Queue.named("narrow").concurrency(5)); // runs of another test may have taken the place
        awaitState(waited, RunState.COMPLETED);

        tab.visit("/");
        tab.awaits("document.querySelectorAll('.plot path.ln').length >= 3");
        tab.awaits("document.querySelector('.plot').getAttribute('aria-label').includes('runs a second are started')");
        tab.sees("1 alive");
        tab.click("1 h");
        tab.awaits("location.search === '?span=1+h'");
        tab.awaits("document.querySelector('.plot').getAttribute('aria-label').includes('runs per 1 min are started')");
        tab.awaits(
                "[...document.querySelectorAll('.plot')].some(one => one.getAttribute('aria-label').includes('until a worker took them'))");
        tab.awaits(
                "[...document.querySelectorAll('[aria-label=Definitions] tr')].some(one => one.textContent.startsWith('order') && one.querySelector('.spark path[d^=M]'))");
        tab.awaits(
                "[...document.querySelectorAll('.errors tr')].some(one => one.textContent.includes('The card was refused.') && one.children[1].textContent === 'charge')");
        perdure.queues().reset("narrow");
        assertThat(tab.complaints()).isEmpty();
    }

    @Test
    void the_runs_of_a_key_are_found_by_the_key() {
        perdure.start(TestShop::oneStep, "x", id("keyed-1").queue("narrow").key("customer 7"));

        tab.visit("/");
        tab.type("#search", "customer 7");
        tab.evaluate("document.querySelector('form.find').requestSubmit()");
        tab.awaits("location.search === '?key=customer+7'");
        tab.sees("keyed-1");
    }

    @Test
    void a_schedule_says_in_words_when_it_fires_and_what_came_of_each_run() {
        tab.visit("/schedules/nightly");
        tab.sees("every day at 02:30 in UTC");
        tab.click("Start now…");
        tab.click("Start a run");
        tab.awaits(
                "[...document.querySelectorAll('.panel tr')].some(one => one.querySelector('.completed') && / ms| s/.test(one.children[4]?.textContent) && one.children[5].textContent === 'no news')");
        assertThat(tab.complaints()).isEmpty();
    }

    @Test
    void an_object_shows_its_state_the_call_that_holds_it_and_those_that_wait() {
        ObjectHandle<TestShop.Shelf> shelf = perdure.object(TestShop.Shelf.class, "lamps");
        awaitState(shelf.send(TestShop.Shelf::take, 3, id("take-1")), RunState.SUSPENDED);
        awaitState(shelf.send(TestShop.Shelf::take, 4, id("take-2")), RunState.PENDING);

        tab.visit("/objects");
        tab.click("lamps");
        tab.sees("\"taken\": 3");
        tab.awaits("[...document.querySelectorAll('tr')].some(one => /take-1.*holds it/s.test(one.innerText))");
        tab.awaits("[...document.querySelectorAll('tr')].some(one => /take-2.*waits/s.test(one.innerText))");
        tab.click("take-2");
        tab.awaits("location.pathname === '/runs/take-2'");
        assertThat(tab.complaints()).isEmpty();
    }

    @Test
    void two_tabs_see_the_same_change() {
        Run<String> run = perdure.start(TestShop::approval, "a desk", id("approval-2"));
        awaitState(run, RunState.SUSPENDED);
        try (Tab other = chromium.open(1280, 900)) {
            tab.visit("/runs/approval-2");
            other.go(page("/runs/approval-2"));
            tab.sees("SUSPENDED");
            other.sees("SUSPENDED");

            run.resolveAwakeable(1, "no");

            other.awaits("document.querySelector('.badge').textContent === 'COMPLETED'");
            tab.call("Page.bringToFront", Map.of());
            tab.awaits("document.querySelector('.badge').textContent === 'COMPLETED'");
        }
    }

    @Test
    @Tag("thorough")
    void ten_tabs_share_the_connections_of_one_browser() {
        List<Tab> tabs = new ArrayList<>();
        try {
            for (int i = 0; i < 10; i++) {
                Tab another = chromium.open(1280, 900);
                tabs.add(another);
                another.go(page("/queues"));
                another.sees("Queues");
            }
            tabs.getLast().go(page("/database"));
            tabs.getLast().sees("Tables");
        } finally {
            tabs.forEach(Tab::close);
        }
    }

    @Test
    void texts_of_strangers_stay_texts() {
        Run<String> run = perdure.start(
                TestShop::stranger, SCRIPT, id("stranger-1").memo(SCRIPT).attribute(TestShop.NAME, SCRIPT));
        awaitState(run, RunState.FAILED);

        for (String path : List.of(
                "/",
                "/runs",
                "/runs/stranger-1",
                "/runs/stranger-1?at=1",
                "/runs/stranger-1?tab=journal",
                "/runs/stranger-1?tab=history",
                "/runs?id_prefix=%3Cimg%20src%3Dx%3E&definition=%3Cscript%3E",
                "/runs/%3Cimg%20src=x%20onerror=alert(1)%3E",
                "/%3Cscript%3Ealert(1)%3C/script%3E")) {
            tab.visit(path);
            tab.awaits("document.querySelector('h1') && !document.querySelector('.load')");
            assertThat(tab.evaluate("document.querySelectorAll('#app img, #app script').length")
                            .asInt())
                    .as(path)
                    .isZero();
        }
        tab.visit("/runs/stranger-1");
        tab.sees("window.stolen=1");
        assertThat(tab.evaluate("typeof window.stolen").asString()).isEqualTo("undefined");
    }

    @Test
    void without_the_token_a_page_shows_everything_and_does_nothing() {
        Run<String> run = perdure.start(TestShop::approval, "a rug", id("approval-3"));
        awaitState(run, RunState.SUSPENDED);

        tab.close(); // it would hand the token to others
        try (Tab other = chromium.open(1280, 900)) {
            other.go(withoutToken("/runs/approval-3"));
            other.sees("SUSPENDED");
            other.awaits(
                    "document.querySelector('.acts .btn') && [...document.querySelectorAll('.acts .btn')].every(one => one.disabled && one.title.includes('token'))");
        } finally {
            tab = opened();
        }
    }

    @Test
    void a_page_asks_only_its_own_server() {
        tab.visit("/runs");
        tab.sees("Runs");

        assertThat(tab.requests())
                .isNotEmpty()
                .allMatch(address -> address.startsWith(withoutToken("/")) || address.equals("about:blank"));
        assertThat(tab.evaluate("location.hash").asString()).isEmpty();
    }

    @Test
    void pages_fit_on_a_phone() {
        tab.size(390, 844);
        for (String path :
                List.of("/", "/runs", "/objects", "/queues", "/schedules", "/definitions", "/workers", "/database")) {
            tab.visit(path);
            tab.awaits("document.querySelector('h1') && !document.querySelector('.load')");
            assertThat(tab.evaluate("document.documentElement.scrollWidth").asInt())
                    .as(path)
                    .isLessThanOrEqualTo(390);
        }
    }
}
