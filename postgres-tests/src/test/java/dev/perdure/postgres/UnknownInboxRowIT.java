package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

/** A row of the inbox with a code that only a newer version of the library knows. */
final class UnknownInboxRowIT {
    @Test
    void a_start_with_an_unknown_hold_is_left_and_holds_up_neither_polls_nor_its_neighbours() {
        String schema = TestServer.newSchema();
        try (PostgresStore store = PostgresStore.on(TestServer.plain())
                .schema(schema)
                .notifications(false)
                .open()) {
            StoreFixture fixture = new StoreFixture(store);
            TestServer.execute("""
                    INSERT INTO %1$s.inbox (seed, wish, id, input, definition, queue, hold, object_type, object_key) VALUES
                        (1, 0, 'unknown', '1', 'order', 'default', 77, 'cart', 'k'),
                        (1, 0, 'beside', '1', 'order', 'default', NULL, NULL, NULL)
                    """.formatted(schema));

            store.dispatch().poll(fixture.poll(10));
            assertThat(store.dispatch().poll(fixture.poll(10)).claimed())
                    .extracting(claimed -> claimed.run().id().value())
                    .containsExactly("beside");
            assertThat(TestServer.query("SELECT id FROM %s.inbox".formatted(schema)))
                    .isEqualTo("unknown");
        }
    }

    /** As a newer version may change it. */
    private static final String KNOWS_MONEY = """
            CREATE OR REPLACE FUNCTION %1$s.attribute_values(attributes jsonb) RETURNS TABLE (name text, kind text, value text)
                LANGUAGE sql IMMUTABLE AS $$
                SELECT e.key, CASE WHEN e.value -> 'money' IS NULL THEN 'text' ELSE 'money' END, COALESCE(e.value ->> 'money', e.value #>> '{}')
                FROM jsonb_each(attributes) AS e
            $$
            """;

    @Test
    void a_start_with_an_attribute_of_an_unknown_kind_is_left_for_a_worker_that_knows_it() {
        String schema = TestServer.newSchema();
        Logger logger = (Logger) LoggerFactory.getLogger("dev.perdure.store");
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        logger.addAppender(lines);
        try (PostgresStore store = PostgresStore.on(TestServer.plain())
                .schema(schema)
                .notifications(false)
                .open()) {
            StoreFixture fixture = new StoreFixture(store);
            TestServer.execute(KNOWS_MONEY.formatted(schema));
            TestServer.execute("""
                    INSERT INTO %1$s.inbox (seed, wish, id, input, definition, queue, attributes) VALUES
                        (1, 0, 'unknown', '1', 'order', 'default', '{"total": {"money": "12 EUR"}}'),
                        (1, 0, 'beside', '1', 'order', 'default', '{"customer": "c-1"}')
                    """.formatted(schema));

            store.dispatch().poll(fixture.poll(10));
            assertThat(store.dispatch().poll(fixture.poll(10)).claimed())
                    .extracting(claimed -> claimed.run().id().value())
                    .containsExactly("beside");
            TestServer.execute("UPDATE %s.inbox SET taken_until = NULL".formatted(schema));
            store.dispatch().poll(fixture.poll(10));
            assertThat(TestServer.query("SELECT id FROM %s.inbox".formatted(schema)))
                    .isEqualTo("unknown");
        } finally {
            logger.detachAppender(lines);
        }
        assertThat(lines.list)
                .filteredOn(line -> line.getFormattedMessage().contains("a code that this version does not know"))
                .singleElement()
                .satisfies(
                        line -> assertThat(line.getThrowableProxy().getMessage())
                                .isEqualTo(
                                        "The attribute 'total' is of the kind 'money': was the row written by a newer version?"));
    }

    @Test
    void a_run_with_an_attribute_of_an_unknown_kind_is_listed_and_is_not_forked() {
        String schema = TestServer.newSchema();
        try (PostgresStore store = PostgresStore.on(TestServer.plain())
                .schema(schema)
                .notifications(false)
                .open()) {
            for (String id : List.of("a", "b")) {
                store.ledger().apply(Lane.client(0), List.of(new Change.Start(StoreFixture.newRun(id), null)));
            }
            TestServer.execute(KNOWS_MONEY.formatted(schema));
            TestServer.execute("""
                    UPDATE %s.run SET attributes = '{"customer": "c-1", "total": {"money": "12 EUR"}}' WHERE id = 'a'
                    """.formatted(schema));

            assertThat(store.runs().list(RunFilter.all()))
                    .extracting(run -> run.description().attributes())
                    .containsExactlyInAnyOrder(
                            Map.of(
                                    "customer", new AttributeValue.Text("c-1"),
                                    "total", new AttributeValue.Unreadable("money:12 EUR")),
                            Map.of());
            assertThat(store.ledger()
                            .apply(
                                    Lane.client(0),
                                    List.of(new Change.Fork(RunId.of("a"), 1, RunId.of("fork"), 4711, null))))
                    .containsExactly(
                            new Outcome.Refused(
                                    "The attribute 'total' of the run 'a' has a value that this version of Perdure cannot read, so it cannot be copied. Fork the run with the version that wrote it."));
        }
    }

    @ParameterizedTest
    @CsvSource({"77, 0", "0, 77"})
    void is_left_and_holds_up_neither_polls_nor_its_neighbours(int channel, int status) {
        String schema = TestServer.newSchema();
        try (PostgresStore store = PostgresStore.on(TestServer.plain())
                .schema(schema)
                .notifications(false)
                .open()) {
            StoreFixture fixture = new StoreFixture(store);
            store.ledger().apply(Lane.client(0), List.of(new Change.Start(StoreFixture.newRun("before"), null)));
            TestServer.execute("""
                    INSERT INTO %1$s.inbox (seed, wish, id, token, channel, status, name, input, definition, queue) VALUES
                        (1, 9, 'before', gen_random_uuid(), %2$d, %3$d, 'topic', '1', NULL, NULL),
                        (1, 0, 'beside', NULL, NULL, NULL, NULL, '1', 'order', 'default')
                    """.formatted(schema, channel, status));

            List<Claimed> first = store.dispatch().poll(fixture.poll(10)).claimed();
            List<Claimed> second = store.dispatch().poll(fixture.poll(10)).claimed();
            assertThat(first).extracting(claimed -> claimed.run().id().value()).containsExactly("before");
            assertThat(second).extracting(claimed -> claimed.run().id().value()).containsExactly("beside");
            assertThat(TestServer.query("SELECT id FROM %s.inbox".formatted(schema)))
                    .isEqualTo("before");
        }
    }
}
