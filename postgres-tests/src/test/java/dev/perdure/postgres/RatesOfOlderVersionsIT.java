package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.Queue;
import dev.perdure.spi.Permits.Answer;
import dev.perdure.spi.Permits.Request;
import dev.perdure.spi.QueueRules.Order;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.RunRef;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rates whose rows a process of an older version has written, or writes beside this one. */
final class RatesOfOlderVersionsIT {
    private static final Instant BEGINNING = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration PERIOD = Duration.ofSeconds(128);
    /** As older versions write them: a part of a second counts until a period after its end. */
    private static final String WRITE = """
            INSERT INTO %1$s.queue_rate AS q (queue, queue_key, since, expires_at, units)
            VALUES ('default', '', '%2$s', timestamptz '%2$s' + interval '129 s', %3$d)
            ON CONFLICT (queue, queue_key, since) DO UPDATE SET units = q.units + excluded.units""";

    private static final String WRITE_PERMITS = """
            INSERT INTO %1$s.limiter_rate AS q (limiter, since, expires_at, units)
            VALUES ('stripe', '%2$s', timestamptz '%2$s' + interval '129 s', %3$d)
            ON CONFLICT (limiter, since) DO UPDATE SET units = q.units + excluded.units""";

    private final AtomicReference<Instant> now = new AtomicReference<>(BEGINNING);
    private String schema;
    private HikariDataSource pool;
    private PostgresStore store;
    private StoreFixture fixture;

    @BeforeEach
    void open() {
        schema = TestServer.schemaOf(RatesOfOlderVersionsIT.class);
        pool = TestServer.pool(5);
        store = PostgresStore.on(pool)
                .schema(schema)
                .notifications(false)
                .time(now::get)
                .open();
        fixture = new StoreFixture(store);
    }

    @AfterEach
    void close() {
        store.close();
        pool.close();
    }

    @Test
    void what_an_older_process_let_begin_counts_for_a_period() {
        store.queues().declare(List.of(Queue.named("default").rate(4, PERIOD)));
        write(WRITE, 3);
        start("a", "b", "c", "d");

        assertThat(claimed()).isEqualTo(1);
        now.set(BEGINNING.plusSeconds(128).plusMillis(900));
        assertThat(claimed()).isZero();
        now.set(BEGINNING.plusSeconds(129));
        assertThat(claimed()).isEqualTo(3);
    }

    @Test
    void it_counts_by_the_end_of_its_part_for_another_rate() {
        store.queues().declare(List.of(Queue.named("default").rate(4, PERIOD)));
        write(WRITE, 4);
        start("a", "b");

        store.queues().apply(new Order.Limit(Queue.named("default").rate(1, Duration.ofSeconds(1))));
        now.set(BEGINNING.plusMillis(1_900));
        assertThat(claimed()).isZero();
        now.set(BEGINNING.plusSeconds(2));
        assertThat(claimed()).isEqualTo(1);
    }

    @Test
    void both_write_the_same_part_and_an_older_one_counts_what_a_newer_one_has_let_begin() {
        store.queues().declare(List.of(Queue.named("default").rate(5, PERIOD)));
        start("a", "b", "c", "d", "e", "f");
        write(WRITE, 1);
        assertThat(claimed()).isEqualTo(4);
        write(WRITE, 1);

        assertThat(counted()).isEqualTo("6");
        now.set(BEGINNING.plusSeconds(128).plusMillis(900));
        assertThat(claimed()).isZero();
        now.set(BEGINNING.plusSeconds(129));
        assertThat(claimed()).isEqualTo(2);
    }

    @Test
    void the_window_of_the_burst_holds_beside_an_older_process_if_it_is_no_part_of_the_rate() {
        store.queues().declare(List.of(Queue.named("default").rate(5, PERIOD).burst(3)));
        start("a", "b", "c", "d", "e");
        write(WRITE, 2);

        assertThat(claimed()).isEqualTo(1);
        now.set(BEGINNING.plusSeconds(76));
        assertThat(claimed()).isZero();
        now.set(BEGINNING.plusSeconds(78));
        assertThat(claimed()).isEqualTo(2);
        assertThat(counted()).isEqualTo("5");
    }

    @Test
    void permits_count_in_the_same_way() {
        store.permits().declare(List.of(Limiter.named("stripe").rate(2, PERIOD)));
        write(WRITE_PERMITS, 1);
        RunRef a = fixture.start("a");
        RunRef b = fixture.start("b");

        assertThat(take(a)).isEqualTo(Answer.HELD);
        write(WRITE_PERMITS, 0);
        now.set(BEGINNING.plusSeconds(128).plusMillis(900));
        assertThat(take(b)).isEqualTo(Answer.WAITS);
        now.set(BEGINNING.plusSeconds(129));
        assertThat(take(b)).isEqualTo(Answer.HELD);
    }

    private void write(String statement, int units) {
        TestServer.execute(statement.formatted(schema, now.get(), units));
    }

    private void start(String... ids) {
        for (String id : ids) {
            fixture.apply(new Change.Start(StoreFixture.newRun(id), null));
        }
    }

    private int claimed() {
        return store.dispatch().poll(fixture.poll(10)).claimed().size();
    }

    private Answer take(RunRef run) {
        return store.permits()
                .take(fixture.worker, List.of(new Request("stripe", run, 1, 1, 1)))
                .getFirst();
    }

    /** What an older process takes for the units that have begun. */
    private String counted() {
        return TestServer.query("SELECT sum(units) FROM %s.queue_rate WHERE queue = 'default' AND expires_at > '%s'"
                .formatted(schema, now.get()));
    }
}
