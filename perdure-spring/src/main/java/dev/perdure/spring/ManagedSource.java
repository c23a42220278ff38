package dev.perdure.spring;

import java.util.Objects;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

/** The data source under which a transaction manager keeps the connection of its transaction. */
final class ManagedSource {
    private ManagedSource() {}

    /** As the managers of Spring do, which look behind a proxy that itself joins transactions. */
    static DataSource of(DataSource source) {
        return source instanceof TransactionAwareDataSourceProxy proxy
                ? Objects.requireNonNull(proxy.getTargetDataSource())
                : source;
    }
}
