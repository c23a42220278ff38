package dev.perdure.spring.boot;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.spi.Store;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;

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
@ConditionalOnBean(DataSource.class)
@ConditionalOnMissingBean(Store.class)
@EnableConfigurationProperties(PerdureProperties.class)
public final class PerdureStoreAutoConfiguration {
    /** The connections for everything that is not a lane, without the one that listens. */
    private static final int BESIDE_LANES = 2;

    /** The store. It opens after Flyway, Liquibase and scripts, which may create its schema. */
    @Bean
    @DependsOnDatabaseInitialization
    PostgresStore perdureStore(
            PerdureProperties properties,
            ObjectProvider<DataSource> application,
            @PerdureDataSource ObjectProvider<DataSource> marked) {
        DataSource source = marked.getIfUnique(application::getIfUnique);
        if (source == null) {
            throw new InvalidRequestException(
                    "The application has several DataSource beans, and none of them is primary. Annotate the one for Perdure with @PerdureDataSource.");
        }
        PostgresStore store =
                properties.store().applyTo(PostgresStore.on(source)).open();
        boolean listens = !Boolean.FALSE.equals(properties.store().notifications());
        PoolInLog.say(source, store.lanes() + BESIDE_LANES + (listens ? 1 : 0));
        return store;
    }
}
