package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.examples.Orders.Order;
import dev.perdure.examples.Orders.Payment;
import dev.perdure.examples.Orders.Payments;
import dev.perdure.examples.Orders.Receipt;
import dev.perdure.examples.Orders.Shipping;
import dev.perdure.postgres.PostgresStore;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The code that the documentation of the PostgreSQL set-up quotes. */
class PostgresSetUpIT {
    private static final Receipt RECEIPT = new Receipt("PAY-1", "TRACK-1");

    private final SharedPostgres.Fresh database = SharedPostgres.database("set_up");
    private final Order order = new Order("Ada", "book", Duration.ofMillis(10));
    private final Payments payments = paid -> new Payment("PAY-1");
    private final Shipping shipping = shipped -> "TRACK-1";

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void an_order_runs_on_a_data_source() {
        DataSource dataSource = database.dataSource();
        // region run
        try (PostgresStore store = PostgresStore.on(dataSource).open();
                Perdure perdure = Perdure.on(store)
                        .register(new Orders(payments, shipping))
                        .start()) {
            Run<Receipt> run = perdure.start(Orders::process, order, id("order-42"));
            System.out.println(run.result());
        }
        // endregion
        try (PostgresStore store = PostgresStore.on(dataSource).open();
                Perdure client = Perdure.on(store).client()) {
            assertThat(client.start(Orders::process, order, id("order-42")).result())
                    .isEqualTo(RECEIPT);
        }
    }

    @Test
    void a_pool_has_room_for_lanes_two_more_and_the_one_that_listens() {
        // region pool
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.jdbcUrl());
        config.setUsername(database.user());
        config.setPassword(database.password());
        config.setMaximumPoolSize(9); // six for lanes, two for other queries, one for LISTEN
        HikariDataSource pool = new HikariDataSource(config);
        PostgresStore store = PostgresStore.on(pool).schema("perdure").lanes(6).open();
        // endregion
        try (pool;
                store) {
            assertThat(receipt(store)).isEqualTo(RECEIPT);
        }
    }

    @Test
    void behind_a_pooler_the_listening_connection_is_a_direct_one() {
        DataSource pooler = database.dataSource();
        DataSource direct = database.dataSource();
        // region pooler
        PostgresStore listening = PostgresStore.on(pooler).listenOn(direct).open();
        PostgresStore polling = PostgresStore.on(pooler).notifications(false).open();
        // endregion
        try (listening;
                polling) {
            assertThat(receipt(listening)).isEqualTo(RECEIPT);
            assertThat(receipt(polling)).isEqualTo(RECEIPT);
        }
    }

    @Test
    void an_embedded_server_is_a_data_source_like_any_other() {
        // region embedded
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start(EmbeddedPostgres.options());
                PostgresStore store = PostgresStore.on(postgres.dataSource()).open()) {
            assertThat(receipt(store)).isEqualTo(RECEIPT);
        }
        // endregion
    }

    private Receipt receipt(PostgresStore store) {
        try (Perdure perdure =
                Perdure.on(store).register(new Orders(payments, shipping)).start()) {
            return perdure.start(Orders::process, order).result();
        }
    }
}
