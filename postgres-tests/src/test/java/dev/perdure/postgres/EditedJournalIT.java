package dev.perdure.postgres;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.HistoryEvent;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunChange;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.error.PayloadException;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.VirtualObject;
import dev.perdure.spi.Mailboxes;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A person has edited rows of journals, or a newer version of the library has written them. Each such run is paused with
 * a reason, and goes on when the row is as it was. The worker stays up, and the other runs complete.
 */
final class EditedJournalIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String UNKNOWN =
            "has an entry at position 1 that this version of Perdure does not know. Nothing was applied.";
    private static final String UNREADABLE = "recorded at position 1 for step 'charge' cannot be read back.";
    private static final String OTHER_CODE = "does not fit the journal of run ";
    private static final String COMPLETES = "";

    /** The beginning of a reference to a large payload. Its size follows. */
    private static final String REFERENCE = "'\\x007061796c6f6164'::bytea || decode(repeat('00', 32), 'hex')";

    private final String schema = TestServer.schemaOf(EditedJournalIT.class);
    private final HikariDataSource pool = TestServer.pool(TestServer.plain(), 8);
    private final PostgresStore store = PostgresStore.on(pool).schema(schema).open();
    private final BlockingQueue<RunChange> changes = new LinkedBlockingQueue<>();
    private final Map<String, RunChange> latest = new ConcurrentHashMap<>();
    private final Definition<String, String> order = Definition.of("order", String.class, String.class, (ctx, in) -> {
        BigDecimal charged = ctx.step("charge", () -> new BigDecimal("12.50"));
        ctx.sleep(Duration.ofHours(1));
        return in + " " + charged;
    });
    private final CountDownLatch first = new CountDownLatch(1);
    private final Dag<String, String> dag = Dag.of("dag", String.class, builder -> {
        var before = builder.task("first", t -> {
            first.await();
            return t.input() + " first";
        });
        return builder.after(before).task("second", (t, output) -> output + " second");
    });
    private final Perdure perdure = Perdure.on(store)
            .register(order, dag, new Cart())
            .listener(changes::add)
            .start();

    /** A virtual object. */
    @VirtualObject("cart")
    static final class Cart {
        @Handler
        public String add(ObjectContext ctx, String item) {
            ctx.sleep(Duration.ofHours(1));
            return item + " added";
        }
    }

    @AfterEach
    void close() {
        perdure.close();
        store.close();
        pool.close();
    }

    /** Waits until all of these runs have such a change as their latest one. */
    private void await(Iterable<String> runs, Predicate<RunChange> wanted) throws InterruptedException {
        for (String run : runs) {
            while (!latest.containsKey(run) || !wanted.test(latest.get(run))) {
                RunChange change = changes.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                assertThat(change).as("a change of run '%s'", run).isNotNull();
                latest.put(change.runId().value(), change);
            }
        }
    }

    private static boolean isAtRest(RunChange change) {
        return change.state() == RunState.PAUSED || change.state().isTerminal();
    }

    /** The edits of position 1, and why they pause the run. */
    private static Map<String, String> edits() {
        Map<String, String> edits = new LinkedHashMap<>();
        edits.put("kind = 17", UNKNOWN);
        edits.put("kind = 0", UNKNOWN);
        edits.put("kind = -7", UNKNOWN);
        edits.put("kind = 257", UNKNOWN);
        edits.put("kind = 32767, note = 32767", UNKNOWN);
        edits.put("status = 8", UNKNOWN);
        edits.put("status = -1", UNKNOWN);
        edits.put("status = 256", UNKNOWN);
        edits.put("kind = 14", "recorded is transaction 'charge', the code asked for step 'charge'");
        edits.put("name = 'refund'", "recorded is step 'refund', the code asked for step 'charge'");
        edits.put("status = 2", UNREADABLE + " Its status is BEGUN, which no step has.");
        edits.put("status = 6", UNREADABLE + " Its status is ABSENT, which no step has.");
        edits.put("status = 7", UNREADABLE + " Its status is HEADERS, which no step has.");
        edits.put("status = 1", UNREADABLE);
        edits.put("status = 1, payload = '{}'", UNREADABLE);
        edits.put("status = 1, payload = '{\"failure\": {\"type\": \"x\", \"stack\": [null]}}'", UNREADABLE);
        edits.put("status = 4", OTHER_CODE);
        edits.put("note = -3", UNREADABLE);
        edits.put("note = 5", UNREADABLE);
        edits.put("position = 7", "at position 1: recorded is nothing, and later, at position 2, sleep of PT1H");
        edits.put("position = -7", "at position 1: recorded is nothing, and later, at position 2, sleep of PT1H");
        edits.put("payload = ''", UNREADABLE + " 0 bytes");
        edits.put("payload = substr(payload, 1, 3)", UNREADABLE);
        edits.put("payload = '\\xff00'", UNREADABLE);
        edits.put("payload = '1e99999999999'", UNREADABLE);
        edits.put("payload = '{\"@class\": \"java.lang.ProcessBuilder\"}'", UNREADABLE);
        edits.put("payload = repeat('[', 100000)::bytea", UNREADABLE);
        edits.put("payload = %s || '\\x0000000000000001'".formatted(REFERENCE), "is not in the payload store");
        edits.put("payload = %s || '\\x7fffffffffffffff'".formatted(REFERENCE), UNREADABLE);
        edits.put("at = 'infinity'", COMPLETES);
        return edits;
    }

    @Test
    void a_run_whose_journal_was_edited_is_paused_and_harms_no_other() throws Exception {
        Map<String, String> reasons = edits();
        List<String> edited = List.copyOf(reasons.keySet());
        Map<String, Run<String>> runs = new LinkedHashMap<>();
        for (String edit : edited) {
            runs.put(edit, perdure.start(Invocation.of(order, "o"), id(edit)));
        }
        for (int i = 0; i < 10; i++) {
            String untouched = "untouched " + i;
            reasons.put(untouched, COMPLETES);
            runs.put(untouched, perdure.start(Invocation.of(order, "o"), id(untouched)));
        }
        await(runs.keySet(), change -> change.state() == RunState.SUSPENDED);
        runs.values().forEach(run -> run.pause("edited"));
        TestServer.execute("CREATE TABLE %1$s.original AS SELECT * FROM %1$s.journal".formatted(schema));
        TestServer.execute(
                "UPDATE %s.journal SET at = at - interval '2 hours' WHERE position = 2".formatted(schema)); // the sleep
        for (String edit : edited) {
            TestServer.execute(
                    "UPDATE %s.journal SET %s WHERE %s AND position = 1".formatted(schema, edit, isOf(edit)));
        }
        latest.clear();
        changes.clear();
        runs.values().forEach(Run::resume);
        await(runs.keySet(), EditedJournalIT::isAtRest);

        runs.forEach((name, run) -> {
            if (reasons.get(name).isEmpty()) {
                assertThat(run.state()).as(name).isEqualTo(RunState.COMPLETED);
            } else {
                assertThat(run.state()).as(name).isEqualTo(RunState.PAUSED);
                assertThat(run.info().reason().orElseThrow()).as(name).contains(reasons.get(name));
                assertThat(run.history()).as(name).isNotEmpty();
            }
        });
        assertThat(runs.get("kind = 17").history())
                .extracting(HistoryEvent::text)
                .contains("a call that this version does not know");
        assertGoesOn(runs, reasons);
    }

    private void assertGoesOn(Map<String, Run<String>> runs, Map<String, String> reasons) throws Exception {
        List<String> paused = runs.keySet().stream()
                .filter(name -> !reasons.get(name).isEmpty())
                .toList();
        for (String edit : paused) {
            TestServer.execute(
                    "DELETE FROM %s.journal WHERE %s AND position NOT IN (0, 2)".formatted(schema, isOf(edit)));
        }
        TestServer.execute(
                "INSERT INTO %1$s.journal SELECT * FROM %1$s.original WHERE position = 1 ON CONFLICT DO NOTHING"
                        .formatted(schema));
        for (String edit : paused) {
            runs.get(edit).resume();
        }
        for (String edit : paused) {
            assertThat(runs.get(edit).result(PATIENCE)).as(edit).isEqualTo("o 12.50");
        }
    }

    private String isOf(String run) {
        return "key = (SELECT key FROM %s.run WHERE id = '%s')".formatted(schema, run.replace("'", "''"));
    }

    @Test
    void a_run_without_the_row_of_its_input_is_paused() throws Exception {
        Run<String> run = perdure.start(Invocation.of(order, "o"), id("a"));
        await(List.of("a"), change -> change.state() == RunState.SUSPENDED);
        run.pause("edited");
        TestServer.execute("DELETE FROM %s.journal WHERE position = 0".formatted(schema));
        latest.clear();
        changes.clear();
        run.resume();
        await(List.of("a"), EditedJournalIT::isAtRest);
        assertThat(run.state()).isEqualTo(RunState.PAUSED);
        assertThat(run.info().reason().orElseThrow()).startsWith("The input of run 'a' cannot be read back. 0 bytes");
    }

    @Test
    void a_run_whose_headers_were_edited_completes_without_them() throws Exception {
        Run<String> run = perdure.start(Invocation.of(order, "o"), id("a"));
        await(List.of("a"), change -> change.state() == RunState.SUSPENDED);
        run.pause("edited");
        TestServer.execute("UPDATE %s.run SET headers = 'no header'".formatted(schema));
        TestServer.execute(
                "UPDATE %s.journal SET at = at - interval '2 hours' WHERE position = 2".formatted(schema)); // the sleep
        run.resume();
        assertThat(run.result(PATIENCE)).isEqualTo("o 12.50");
    }

    @Test
    void a_call_with_an_unknown_hold_is_paused_and_other_runs_complete() throws Exception {
        Run<String> call = perdure.object(Cart.class, "user-1").send(Cart::add, "shoe", id("call"));
        await(List.of("call"), change -> change.state() == RunState.SUSPENDED);
        call.pause("edited");
        TestServer.execute("UPDATE %s.object_call SET hold = 77".formatted(schema));
        TestServer.execute("UPDATE %s.journal SET at = at - interval '2 hours'".formatted(schema)); // the sleep
        latest.clear();
        changes.clear();
        call.resume();
        await(List.of("call"), change -> change.state() == RunState.PAUSED);
        assertThat(call.info().reason())
                .contains("The way in which run 'call' holds the object 'cart/user-1' is one that this version of "
                        + "Perdure does not know. Nothing was applied. Deploy the version that wrote it, or restore the row, "
                        + "then resume the run.");
        Run<String> other = perdure.start(Invocation.of(order, "o"), id("other"));
        await(List.of("other"), change -> change.state() == RunState.SUSPENDED);
        other.cancel("done");
        TestServer.execute("UPDATE %s.object_call SET hold = 1".formatted(schema));
        call.resume();
        assertThat(call.result(PATIENCE)).isEqualTo("shoe added");
    }

    @Test
    void a_run_after_a_task_in_an_unknown_state_is_paused() throws Exception {
        DagRun<String> run = perdure.start(dag, "in", id("d"));
        Run<String> second = perdure.run(RunId.of("d/second"), TypeRef.of(String.class));
        second.pause("edited");
        await(List.of("d/second"), change -> change.state() == RunState.PAUSED);
        first.countDown();
        await(List.of("d/first"), change -> change.state() == RunState.COMPLETED);
        TestServer.execute("UPDATE %s.run SET state = 77 WHERE id = 'd/first'".formatted(schema));
        latest.clear();
        changes.clear();
        second.resume();
        await(List.of("d/second"), change -> change.state() == RunState.PAUSED);
        assertThat(second.info().reason().orElseThrow())
                .startsWith(
                        "The state of task 'd/first', which run 'd/second' comes after, is one that this version of "
                                + "Perdure does not know. Nothing was applied.");
        TestServer.execute("UPDATE %s.run SET state = 6 WHERE id = 'd/first'".formatted(schema));
        second.resume();
        assertThat(run.result(PATIENCE)).isEqualTo("in first second");
    }

    @Test
    void mail_of_a_newer_version_harms_no_other_mail() throws Exception {
        Topic<String> topic = Topic.of("told", String.class);
        Topic<String> approval = Topic.of("approval", String.class);
        Definition<String, String> talk = Definition.of(
                "talk",
                String.class,
                String.class,
                (ctx, in) -> ctx.receive(topic).await() + ctx.promise(approval).await());
        try (Perdure beside =
                Perdure.on(store).register(talk).listener(changes::add).start()) {
            List<String> ids = List.of("other channel", "other status", "untouched");
            Map<String, Run<String>> runs = new LinkedHashMap<>();
            ids.forEach(name -> runs.put(name, beside.start(Invocation.of(talk, "x"), id(name))));
            await(ids, change -> change.state() == RunState.SUSPENDED);
            runs.values().forEach(run -> run.pause("edited"));
            runs.values().forEach(run -> run.send(topic, "message "));
            runs.values().forEach(run -> run.promise(approval).resolve("promise"));
            TestServer.execute("UPDATE %s.mail SET channel = 9 WHERE %s".formatted(schema, isOf("other channel")));
            TestServer.execute("UPDATE %s.mail SET status = 9 WHERE %s".formatted(schema, isOf("other status")));
            assertThat(runs.get("untouched").promise(approval).await(PATIENCE)).isEqualTo("promise");
            List<Mailboxes.Unread> places = ids.stream()
                    .map(name -> new Mailboxes.Unread(
                            store.runs().find(RunId.of(name)).orElseThrow().ref(), 0))
                    .toList();
            assertThat(store.mailboxes().unread(places, 1024).values().stream().map(List::size))
                    .as("read together")
                    .containsExactlyInAnyOrder(0, 2, 2);
            List<Mailboxes.Promised> promised = places.stream()
                    .map(place -> new Mailboxes.Promised(place.run(), approval.name()))
                    .toList();
            assertThat(store.mailboxes().promises(promised)).as("read together").hasSize(2);
            latest.clear();
            changes.clear();
            runs.values().forEach(Run::resume);
            assertThat(runs.get("untouched").result(PATIENCE)).isEqualTo("message promise");
            await(List.of("other status"), EditedJournalIT::isAtRest);
            assertThat(runs.get("other status").info().reason().orElseThrow())
                    .contains("Its status is UNKNOWN, which no mail has.");
            await(List.of("other channel"), change -> change.state() == RunState.SUSPENDED);
            TestServer.execute("UPDATE %s.mail SET status = 0 WHERE %s".formatted(schema, isOf("other status")));
            runs.get("other status").resume();
            assertThat(runs.get("other status").result(PATIENCE)).isEqualTo("message promise");
        }
    }

    @Test
    void an_outcome_that_was_edited_is_told_to_the_caller_who_reads_it() throws Exception {
        Definition<String, Integer> quick = Definition.of("quick", String.class, Integer.class, (ctx, in) -> 7);
        try (Perdure beside = Perdure.on(store).register(quick).start()) {
            assertThat(beside.start(Invocation.of(quick, "x"), id("q")).result(PATIENCE))
                    .isEqualTo(7);
        }
        TestServer.execute("UPDATE %s.journal SET payload = '[' WHERE position = 2147483647".formatted(schema));
        Run<Integer> run = perdure.run(RunId.of("q"), TypeRef.of(Integer.class));
        assertThat(catchThrowable(() -> run.result(PATIENCE)))
                .isInstanceOf(PayloadException.class)
                .hasMessageContaining("cannot be read");
    }
}
