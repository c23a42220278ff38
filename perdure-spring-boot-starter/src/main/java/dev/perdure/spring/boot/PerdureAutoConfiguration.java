package dev.perdure.spring.boot;

import dev.perdure.Outbox;
import dev.perdure.Perdure;
import dev.perdure.postgres.PostgresOutbox;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.spi.Inbox;
import dev.perdure.spi.Store;
import dev.perdure.spring.SpringOutbox;
import dev.perdure.spring.SpringTransactions;
import dev.perdure.spring.boot.internal.LateTarget;
import javax.sql.DataSource;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * The engine as a bean, and with one transaction manager also the transaction steps and the outbox of Spring's
 * transactions. See {@link EngineLifecycle} for when the engine starts and stops.
 */
@AutoConfiguration(
        after = PerdureStoreAutoConfiguration.class,
        // The names in Boot 3 and in Boot 4.
        afterName = {
            "org.springframework.boot.autoconfigure.jdbc.DataSourceTransactionManagerAutoConfiguration",
            "org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration",
            "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration"
        })
@ConditionalOnProperty(prefix = PerdureProperties.PREFIX, name = "enabled", matchIfMissing = true)
@ConditionalOnBean(Store.class)
@ConditionalOnMissingBean(Perdure.class)
@EnableConfigurationProperties(PerdureProperties.class)
public final class PerdureAutoConfiguration {
    @Bean
    EngineLifecycle perdureLifecycle(
            Store store, PerdureProperties properties, ConfigurableApplicationContext application) {
        return new EngineLifecycle(store, properties, application);
    }

    /** The engine. The lifecycle closes it, so Spring must not. */
    @Bean(destroyMethod = "")
    Perdure perdure(EngineLifecycle lifecycle) {
        return LateTarget.proxy(Perdure.class, lifecycle::current);
    }

    /** Transaction steps and the outbox, in the database of the application's own transactions. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(PostgresStore.class)
    @ConditionalOnSingleCandidate(PlatformTransactionManager.class)
    static class Transactions {
        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnSingleCandidate(DataSource.class)
        SpringTransactions perdureTransactions(
                PostgresStore store, PlatformTransactionManager manager, DataSource source) {
            return SpringTransactions.on(store, manager, source);
        }

        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnSingleCandidate(DataSource.class)
        Outbox perdureOutbox(PostgresStore store, Perdure perdure, DataSource source) {
            Inbox current = SpringOutbox.current(PostgresOutbox.on(store), source);
            return LateTarget.proxy(Outbox.class, () -> perdure.outbox(current));
        }
    }
}
