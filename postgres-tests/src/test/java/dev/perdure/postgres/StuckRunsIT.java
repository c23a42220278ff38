package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.reaction.Occasion;
import dev.perdure.reaction.ReactionInfo;
import dev.perdure.spi.Dispatch.Polled;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** One bad row holds up its own run and no other. */
final class StuckRunsIT {
    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final String schema = TestServer.schemaOf(StuckRunsIT.class);
    private HikariDataSource pool;
    private PostgresStore store;
    private StoreFixture fixture;

    @BeforeEach
    void open() {
        pool = TestServer.pool(4);
        store = PostgresStore.on(pool)
                .schema(schema)
                .notifications(false)
                .time(now::get)
                .open();
        fixture = new StoreFixture(store);
        lines.start();
        ((Logger) LoggerFactory.getLogger("dev.perdure.store")).addAppender(lines);
    }

    @AfterEach
    void close() {
        ((Logger) LoggerFactory.getLogger("dev.perdure.store")).detachAppender(lines);
        store.close();
        pool.close();
    }

    private void enqueue(String... ids) {
        List<Change> starts = List.of(ids).stream()
                .<Change>map(id -> new Change.Start(StoreFixture.newRun(id), null))
                .toList();
        store.ledger().apply(Lane.client(0), starts);
    }

    private Polled poll() {
        return store.dispatch().poll(fixture.poll(10));
    }

    private static List<String> ids(Polled polled) {
        return polled.claimed().stream()
                .map(claimed -> claimed.run().id().value())
                .toList();
    }

    private String stateOf(String id) {
        return store.runs().find(RunId.of(id)).orElseThrow().info().state().name();
    }

    private void execute(String sql) {
        TestServer.execute(sql.replace("${schema}", schema));
    }

    @Test
    void the_pause_of_such_a_run_is_an_occasion_for_a_reaction() {
        store.reactions()
                .declare(List.of(new ReactionInfo(
                        "alert",
                        Set.of(Occasion.PAUSED),
                        Optional.empty(),
                        Set.of(),
                        "alert",
                        "default",
                        Optional.empty())));
        enqueue("bad");
        execute("INSERT INTO ${schema}.held SELECT r.key, w.number, r.partition FROM ${schema}.run r, ${schema}.worker"
                + " w WHERE r.id = 'bad'");
        poll();
        assertThat(stateOf("bad")).isEqualTo("PAUSED");
        poll();
        long key = store.runs().find(RunId.of("bad")).orElseThrow().ref().key();
        assertThat(stateOf("reaction:alert:bad#%d.1".formatted(key))).isEqualTo("READY");
    }

    @Test
    void a_run_that_cannot_be_claimed_is_paused_and_all_others_are_claimed() {
        enqueue("a", "bad", "c", "d");
        execute("INSERT INTO ${schema}.held SELECT r.key, w.number, r.partition FROM ${schema}.run r, ${schema}.worker"
                + " w WHERE r.id = 'bad'");

        Polled polled = poll();
        assertThat(ids(polled)).containsExactly("a", "c", "d");
        assertThat(polled.changed()).singleElement().satisfies(change -> {
            assertThat(change.runId()).isEqualTo(RunId.of("bad"));
            assertThat(change.state()).isEqualTo(RunState.PAUSED);
            assertThat(change.reason().orElseThrow())
                    .startsWith("No worker can take it, because PostgreSQL refuses: ")
                    .contains("held_pkey")
                    .endsWith("Fix the row that it names, then resume the run.");
        });
        assertThat(store.runs().find(RunId.of("bad")).orElseThrow().info().reason())
                .isEqualTo(polled.changed().getFirst().reason());

        enqueue("e");
        polled = poll();
        assertThat(ids(polled)).containsExactly("e");
        assertThat(polled.changed()).isEmpty();
        assertThat(lines.list)
                .singleElement()
                .satisfies(line -> assertThat(line.getFormattedMessage())
                        .startsWith("Run 'bad' is PAUSED, so that it delays no other. No worker can take it"));

        execute("DELETE FROM ${schema}.held h USING ${schema}.run r WHERE r.key = h.key AND r.id = 'bad'");
        store.ledger()
                .apply(Lane.client(0), List.of(new Change.Command(RunId.of("bad"), Change.CommandKind.RESUME, "")));
        assertThat(ids(poll())).containsExactly("bad");
        assertThat(store.runs()
                        .entered(
                                store.runs().find(RunId.of("bad")).orElseThrow().ref()))
                .extracting(entered -> entered.state().name())
                .containsExactly("READY", "PAUSED", "READY", "RUNNING");
    }

    @Test
    void a_run_that_cannot_be_woken_is_paused_and_all_others_are_woken() {
        List<RunRef> runs = fixture.startAll(List.of("a", "bad", "c"));
        runs.forEach(run -> fixture.apply(new Change.Advance(
                run, 1, List.of(), new Move.Wait(RunState.SUSPENDED, new Due.In(Duration.ofMinutes(1)), 0))));
        execute("INSERT INTO ${schema}.event SELECT key, changes, partition, 3, now(), NULL FROM ${schema}.run WHERE"
                + " id = 'bad'");
        now.updateAndGet(time -> time.plusSeconds(60));

        Polled polled = poll();
        assertThat(ids(polled)).containsExactly("a", "c");
        assertThat(polled.changed())
                .extracting(change -> change.runId().value())
                .containsExactly("bad");
        assertThat(stateOf("bad")).isEqualTo("PAUSED");
        store.ledger()
                .apply(Lane.client(0), List.of(new Change.Command(RunId.of("bad"), Change.CommandKind.RESUME, "")));
        assertThat(ids(poll())).containsExactly("bad");
    }

    @Test
    void a_row_of_the_queue_whose_run_is_not_ready_takes_no_place() {
        enqueue("dead", "alive");
        execute("UPDATE ${schema}.run SET state = 8 WHERE id = 'dead'");

        assertThat(store.dispatch().poll(fixture.poll(1)).claimed()).isEmpty();
        assertThat(ids(store.dispatch().poll(fixture.poll(1)))).containsExactly("alive");
    }

    @Test
    void a_run_has_one_place_in_the_queue() {
        enqueue("a");
        assertThat(TestServer.query("SELECT count(*) FROM %s.ready".formatted(schema)))
                .isEqualTo("1");
        assertThatThrownBy(() ->
                        execute("INSERT INTO ${schema}.ready SELECT key, since, rank, partition, NOT alone, queue,"
                                + " definition, version FROM ${schema}.ready"))
                .hasStackTraceContaining("ready_run");
    }
}
