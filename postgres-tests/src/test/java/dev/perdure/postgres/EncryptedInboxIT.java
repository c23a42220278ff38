package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunId;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.EncryptedPayload;
import dev.perdure.spi.payload.StoredValues;
import dev.perdure.spi.payload.StoredValues.Replacement;
import dev.perdure.spi.payload.StoredValues.Site;
import dev.perdure.spi.payload.StoredValues.Value;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Encrypted values that no run has yet, because no worker has read the inbox; and rows that another transaction has locked. */
final class EncryptedInboxIT {
    private static final Payload OLD = new Payload(EncryptedPayload.header("2025"));
    private static final Payload NEW = new Payload(EncryptedPayload.header("2026"));

    private final String schema = TestServer.schemaOf(EncryptedInboxIT.class);

    private static List<Value> found(StoredValues values) {
        List<Value> found = new ArrayList<>();
        List<String> reached = List.of();
        do {
            StoredValues.Page page = values.read(reached, "2026");
            found.addAll(page.values());
            reached = page.reached();
        } while (!reached.isEmpty());
        return found;
    }

    @Test
    void starts_and_mail_in_the_inbox_are_replaced_unless_they_are_locked() throws Exception {
        try (HikariDataSource pool = TestServer.pool(TestServer.plain(), 5);
                PostgresStore store = PostgresStore.on(pool)
                        .schema(schema)
                        .notifications(false)
                        .open()) {
            TestServer.execute("""
                    INSERT INTO %1$s.inbox (seed, wish, id, definition, queue, input, attributes)
                    VALUES (1, 0, 'a', 'order', 'default', decode('%2$s', 'hex'),
                            jsonb_build_object('customer', 'c-1', 'email', jsonb_build_object('encrypted', encode(decode('%2$s', 'hex'), 'base64'))));
                    INSERT INTO %1$s.inbox (seed, wish, id, token, channel, status, name, input)
                    VALUES (0, 9, 'b', gen_random_uuid(), 0, 0, 'topic', decode('%2$s', 'hex'));
                    INSERT INTO %1$s.inbox (seed, wish, id, reason) VALUES (0, 1, 'c', 'a cancel');
                    """.formatted(schema, HexFormat.of().formatHex(OLD.bytes())));
            List<Value> found = found(store.values());
            assertThat(found)
                    .extracting(Value::site)
                    .containsExactly(
                            new Site.Input(RunId.of("a")),
                            new Site.Mailed(RunId.of("b"), Channel.message("topic")),
                            new Site.Attribute(RunId.of("a"), "email"));
            List<Replacement> all = found.stream()
                    .map(value -> new Replacement(value.address(), value.payload(), NEW))
                    .toList();
            try (Connection other = pool.getConnection();
                    Statement statement = other.createStatement()) {
                other.setAutoCommit(false);
                statement.execute("SELECT FROM %s.inbox WHERE id = 'a' FOR UPDATE".formatted(schema));
                assertThat(store.values().replace(all))
                        .as("the one that is free")
                        .isOne();
                other.rollback();
            }
            assertThat(store.values().replace(all)).as("the others").isEqualTo(2);
            assertThat(found(store.values())).isEmpty();
        }
    }
}
