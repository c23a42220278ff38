package dev.perdure.spring;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.postgres.PostgresOutbox;
import dev.perdure.spi.Inbox;
import java.sql.Connection;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * An outbox in Spring's current transaction: its requests take effect when that transaction commits.
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
     * An inbox in the transaction that is current at each request.
     *
     * @param source the data source of the transaction manager
     */
    public static Inbox current(PostgresOutbox outbox, DataSource source) {
        DataSource managed = ManagedSource.of(source);
        return changes -> {
            if (!TransactionSynchronizationManager.hasResource(managed)) {
                throw new InvalidRequestException(
                        "No transaction of this DataSource is active. Use the outbox in a @Transactional method, or start the run without an outbox.");
            }
            Connection connection = DataSourceUtils.getConnection(managed);
            try {
                outbox.in(connection).put(changes);
            } finally {
                DataSourceUtils.releaseConnection(connection, managed);
            }
        };
    }
}
