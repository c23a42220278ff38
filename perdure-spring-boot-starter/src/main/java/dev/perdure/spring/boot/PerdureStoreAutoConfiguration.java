package dev.perdure.spring.boot;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.spi.Store;
import java.util.Objects;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

/**
 * Opens a {@link PostgresStore} on the {@code DataSource} marked with {@link PerdureDataSource}, otherwise on the
 * primary one. An application that declares a {@link Store} bean uses that one.
 */
@AutoConfiguration(
        // The names in Boot 3 and in Boot 4.
        afterName = {
            "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration"
        })
@ConditionalOnProperty(prefix = PerdureProperties.PREFIX, name = "enabled", matchIfMissing = true)
@Conditional(PerdureStoreAutoConfiguration.AnyDataSource.class)
@ConditionalOnMissingBean(Store.class)
@EnableConfigurationProperties(PerdureProperties.class)
public final class PerdureStoreAutoConfiguration {
    /** Also one that is marked and no default candidate, in an application without another. */
    static final class AnyDataSource extends AnyNestedCondition {
        AnyDataSource() {
            super(ConfigurationPhase.REGISTER_BEAN);
        }

        @ConditionalOnBean(DataSource.class)
        static final class OfTheApplication {}

        @Conditional(OnMarkedDataSource.class)
        static final class Marked {}
    }

    /** The connections for everything that is not a lane, without the one that listens. */
    private static final int BESIDE_LANES = 2;

    /** The store. It opens after Flyway, Liquibase and scripts, which may create its schema. */
    @Bean
    @DependsOnDatabaseInitialization
    PostgresStore perdureStore(
            PerdureProperties properties,
            ObjectProvider<DataSource> application,
            @PerdureDataSource ObjectProvider<DataSource> marked) {
        DataSource source = ownConnections(choose(application, marked));
        PostgresStore store =
                properties.store().applyTo(PostgresStore.on(source)).open();
        boolean listens = !Boolean.FALSE.equals(properties.store().notifications());
        PoolInLog.say(source, store.lanes() + BESIDE_LANES + (listens ? 1 : 0));
        return store;
    }

    private static DataSource choose(ObjectProvider<DataSource> application, ObjectProvider<DataSource> marked) {
        DataSource own = marked.getIfAvailable(); // throws if several are marked
        if (own != null) {
            return own;
        }
        DataSource primary = application.getIfUnique();
        if (primary == null) {
            throw new InvalidRequestException(
                    "The application has several DataSource beans, and none of them is primary. Annotate the one for Perdure with @PerdureDataSource.");
        }
        return primary;
    }

    /** The store commits by itself, so it must not get the connection of the caller's transaction. */
    private static DataSource ownConnections(DataSource source) {
        return source instanceof TransactionAwareDataSourceProxy proxy
                ? Objects.requireNonNull(proxy.getTargetDataSource())
                : source;
    }
}
