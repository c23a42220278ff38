package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.json;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunId;
import dev.perdure.postgres.inbox.InboxReader;
import dev.perdure.postgres.jdbc.Connections;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Mail;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Rows of the inbox whose run never appears: they are dropped after a minute, and the log says so. */
final class OutboxWithoutRunIT {
    private static final Logger LOGGER = (Logger) LoggerFactory.getLogger("dev.perdure.store");

    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final Schema schema = new Schema(TestServer.schemaOf(OutboxWithoutRunIT.class));
    private HikariDataSource pool;
    private PostgresStore store;
    private Database database;
    private InboxReader reader;

    @BeforeEach
    void open() throws SQLException {
        pool = TestServer.pool(6);
        store = PostgresStore.on(pool)
                .schema(schema.name())
                .notifications(false)
                .open();
        database = new Database(Connections.from(pool, 3), () -> null);
        reader = new InboxReader(database, schema, store.ledger());
        lines.start();
        LOGGER.setLevel(Level.WARN);
        LOGGER.addAppender(lines);
    }

    @AfterEach
    void close() {
        LOGGER.detachAppender(lines);
        LOGGER.setLevel(null);
        database.close();
        store.close();
        pool.close();
    }

    private static Change message(String to) {
        return new Change.Deliver(RunId.of(to), Mail.value(Channel.message("news"), UUID.randomUUID(), json("1")));
    }

    private void put(Stream<Change> changes) throws Exception {
        List<Change> all = changes.toList();
        try (Connection caller = TestServer.plain().getConnection()) {
            caller.setAutoCommit(false);
            PostgresOutbox.on(store).notifications(false).in(caller).put(all);
            caller.commit();
        }
    }

    private void letAMinutePass() {
        TestServer.execute(
                "UPDATE %s.inbox SET taken_until = NULL, at = at - interval '61 seconds'".formatted(schema.name()));
    }

    private String rows() {
        return TestServer.query("SELECT count(*) FROM %s.inbox".formatted(schema.name()));
    }

    private List<String> warnings() {
        return lines.list.stream()
                .filter(line -> line.getLevel() == Level.WARN)
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    @Test
    void a_row_whose_run_is_not_there_waits_for_it_without_a_warning() throws Exception {
        put(Stream.of(message("late")));
        reader.read();
        assertThat(rows()).isEqualTo("1");
        assertThat(warnings()).isEmpty();
    }

    @Test
    void rows_that_are_dropped_after_a_minute_are_counted_and_named_in_one_warning() throws Exception {
        put(Stream.of(message("nowhere"), new Change.Command(RunId.of("gone"), Change.CommandKind.CANCEL, "enough")));
        letAMinutePass();
        reader.read();
        assertThat(rows()).isEqualTo("0");
        assertThat(warnings())
                .containsExactly(
                        "Dropped 2 messages and commands from callers' transactions, because their runs did not "
                                + "exist a minute later: 'gone' (1), 'nowhere' (1). Start a run before, or in, the "
                                + "transaction that addresses it.");
    }

    @Test
    void the_warning_names_ten_runs_at_most() throws Exception {
        put(IntStream.range(0, 12).mapToObj(i -> message("none-%02d".formatted(i))));
        letAMinutePass();
        reader.read();
        assertThat(rows()).isEqualTo("0");
        assertThat(warnings()).singleElement().asString().contains("Dropped 12 ", "'none-09' (1) and 2 more runs. ");
    }
}
