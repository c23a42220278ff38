package dev.perdure.spring;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.postgres.PostgresOutbox;
import dev.perdure.spi.Inbox;
import java.sql.Connection;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DataSourceUtils;

/**
 * Starts and cancels in Spring's current transaction: they happen when it commits.
 *
 * <pre>{@code
 * Inbox current = SpringOutbox.current(PostgresOutbox.on(store), dataSource);
 *
 * @Transactional
 * public void place(Order order) {
 *     orders.save(order);
 *     perdure.outbox(current).start(Orders::process, order, id("order-" + order.number()));
 * }
 * }</pre>
 */
public final class SpringOutbox {
    private SpringOutbox() {}

    /**
     * Into whatever transaction is current when something is asked for.
     *
     * @param source what the transaction manager's connections come from
     */
    public static Inbox current(PostgresOutbox outbox, DataSource source) {
        return changes -> {
            Connection connection = DataSourceUtils.getConnection(source);
            try {
                if (!DataSourceUtils.isConnectionTransactional(connection, source)) {
                    throw new InvalidRequestException(
                            "There is no transaction of this DataSource to start a run in. Call it from a @Transactional method, or start the run without an outbox.");
                }
                outbox.in(connection).put(changes);
            } finally {
                DataSourceUtils.releaseConnection(connection, source);
            }
        };
    }
}
