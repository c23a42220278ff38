package dev.perdure.spring.boot.test;

import dev.perdure.Outbox;
import dev.perdure.Perdure;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresOutbox;
import dev.perdure.spring.SpringOutbox;
import dev.perdure.spring.SpringTransactions;
import dev.perdure.spring.boot.PerdureActuatorAutoConfiguration;
import dev.perdure.spring.boot.PerdureProperties;
import dev.perdure.spring.boot.internal.LateTarget;
import dev.perdure.testing.PerdureTest;
import javax.sql.DataSource;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Scope;
import org.springframework.transaction.PlatformTransactionManager;

/** The beans of the starter, on the {@link TestEngine}. */
@AutoConfiguration(
        before = PerdureActuatorAutoConfiguration.class,
        // The names in Boot 3 and in Boot 4.
        afterName = {
            "org.springframework.boot.autoconfigure.jdbc.DataSourceTransactionManagerAutoConfiguration",
            "org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration",
            "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration"
        })
@ConditionalOnProperty(TestDatabaseCustomizerFactory.ENABLED)
@EnableConfigurationProperties(PerdureProperties.class)
public final class PerdureTestAutoConfiguration {
    @Bean
    TestEngine perdureTestEngine(
            SharedPostgres.Fresh database, PerdureProperties properties, ConfigurableApplicationContext application) {
        return new TestEngine(database, properties, application);
    }

    /** The engine of the present test, for the beans of the application, which outlive a test. */
    @Bean(destroyMethod = "")
    @Primary
    Perdure perdure(TestEngine engine) {
        return LateTarget.proxy(Perdure.class, engine::current);
    }

    /** The same for the test. Each object of the test class gets the one of its test. */
    @Bean(destroyMethod = "")
    @Scope(ConfigurableBeanFactory.SCOPE_PROTOTYPE)
    PerdureTest perdureTest(TestEngine engine) {
        return engine.current();
    }

    /** Transaction steps and the outbox, in the database of the application's own transactions. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnSingleCandidate(PlatformTransactionManager.class)
    static class Transactions {
        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnSingleCandidate(DataSource.class)
        SpringTransactions perdureTransactions(
                TestEngine engine, PlatformTransactionManager manager, DataSource source) {
            return SpringTransactions.on(engine::store, manager, source);
        }

        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnSingleCandidate(DataSource.class)
        Outbox perdureOutbox(TestEngine engine, DataSource source) {
            return LateTarget.proxy(
                    Outbox.class,
                    () -> engine.current().outbox(SpringOutbox.current(PostgresOutbox.on(engine.store()), source)));
        }
    }
}
