package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
