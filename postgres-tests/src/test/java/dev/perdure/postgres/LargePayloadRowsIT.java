package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import dev.perdure.spi.payload.PayloadReference;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What large values leave in the tables. */
final class LargePayloadRowsIT {
    private static final int SIZE = 5 * 1024 * 1024;
    private static final Definition<String, String> FLOW =
            Definition.of("large", String.class, String.class, (ctx, in) -> ctx.step("make", () -> in.repeat(SIZE)));

    private static final String SCHEMA = TestServer.newSchema();
    private static HikariDataSource pool;
    private static PostgresStore store;

    @BeforeAll
    static void open() {
        pool = TestServer.pool(5);
        store = PostgresStore.on(pool).schema(SCHEMA).notifications(false).open();
    }

    @AfterAll
    static void close() {
        store.close();
        pool.close();
    }

    private static String query(String sql) {
        return TestServer.query(sql.formatted(SCHEMA)).strip();
    }

    @VirtualObject("counter")
    public static final class Counter {
        private static final StateKey<Integer> COUNT = StateKey.of("count", Integer.class);

        @Handler
        public int next(ObjectContext ctx) {
            int next = ctx.get(COUNT).orElse(0) + 1;
            ctx.set(COUNT, next);
            return next;
        }
    }

    @Test
    void the_journal_has_references_and_the_views_show_hash_and_size() {
        try (Perdure perdure =
                Perdure.on(store).register(FLOW).maxPayloadBytes(2 * SIZE).start()) {
            Run<String> run = perdure.start(Invocation.of(FLOW, "a"), StartOptions.id("large"));
            assertThat(run.result()).hasSize(SIZE);
        }
        String ofRun = " FROM %1$s.journal j JOIN %1$s.run r ON r.key = j.key WHERE r.id = 'large'";
        assertThat(query("SELECT max(octet_length(payload))" + ofRun)).isEqualTo("48");
        assertThat(query("SELECT payload ->> 'size' FROM %s.journals WHERE id = 'large'"))
                .isEqualTo(Integer.toString(SIZE + 2));
        assertThat(query("SELECT outcome ->> 'payload' FROM %s.runs WHERE id = 'large'"))
                .isEqualTo(query("SELECT encode(substring(reference FROM 9 FOR 32), 'hex') FROM %s.payload"));
        assertThat(query("SELECT count(*) || ' ' || max(octet_length(bytes)) FROM %s.payload_chunk"))
                .isEqualTo("6 1048576");
    }

    /** An index on the payload would make every change of a state write all indexes. */
    @Test
    void the_index_on_references_does_not_end_hot_updates_of_states() throws Exception {
        int calls = 200;
        try (Perdure perdure = Perdure.on(store).register(new Counter()).start()) {
            for (int i = 0; i < calls; i++) {
                perdure.object(Counter.class, "one").call(Counter::next);
            }
        }
        try (Connection connection = pool.getConnection()) {
            assertThat(hotUpdates(connection)).isGreaterThan(calls / 2);
        }
    }

    private static long hotUpdates(Connection connection) throws Exception {
        String counted =
                "SELECT n_tup_hot_upd FROM pg_stat_all_tables WHERE schemaname = '%s' AND relname = 'object_state'"
                        .formatted(SCHEMA);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        long hot = 0;
        while (hot < 100 && System.nanoTime() - end < 0) { // Sessions report what they counted now and then.
            TestServer.reportStatistics(connection);
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(counted)) {
                row.next();
                hot = row.getLong(1);
            }
        }
        return hot;
    }

    @Test
    void asking_for_references_uses_the_indexes() throws Exception {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SET enable_seqscan = off; SET enable_bitmapscan = off");
            StringBuilder plan = new StringBuilder();
            String predicate =
                    "octet_length(payload) = 48 AND substring(payload FROM 1 FOR 8) = '\\x007061796c6f6164'::bytea";
            for (String table : List.of("journal", "mail", "publication")) {
                try (ResultSet rows = statement.executeQuery(
                        "EXPLAIN SELECT true FROM %s.%s WHERE payload = '\\x00'::bytea AND %s LIMIT 1"
                                .formatted(SCHEMA, table, predicate))) {
                    while (rows.next()) {
                        plan.append(rows.getString(1));
                    }
                }
            }
            assertThat(plan.toString()).contains("journal_reference", "mail_reference", "publication_reference");
        }
    }

    /** Both find nothing and write; the payload gets one name, and the chunks of the second go. */
    @Test
    void two_uploads_of_one_payload_at_the_same_time_become_one() throws Exception {
        byte[] content = new byte[] {7, 7, 7};
        PayloadReference reference = new PayloadReference(
                HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content)), content.length);
        for (int i = 0; i < 20; i++) {
            CompletableFuture<?> one = CompletableFuture.runAsync(() -> put(content, reference));
            CompletableFuture<?> other = CompletableFuture.runAsync(() -> put(content, reference));
            CompletableFuture.allOf(one, other).get(20, TimeUnit.SECONDS);
            assertThat(store.payloads().read(reference, 0)).hasValue(content);
            assertThat(query("SELECT count(*) FROM %1$s.payload_chunk WHERE octet_length(bytes) = 3"))
                    .isEqualTo("1");
            store.payloads().remove(List.of(reference), List.of(), Duration.ZERO);
            assertThat(query("SELECT count(*) FROM %1$s.payload_chunk WHERE octet_length(bytes) = 3"))
                    .isEqualTo("0");
        }
    }

    private static void put(byte[] content, PayloadReference reference) {
        UUID upload = UUID.randomUUID();
        store.payloads().write(upload, 0, content);
        assertThat(store.payloads().finish(upload, reference)).isTrue();
    }
}
