package dev.perdure.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.spring.SpringTransactions;
import dev.perdure.transaction.TransactionOptions;
import java.time.Duration;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Applications that read from a replica. Two databases stand for the primary server and the replica. */
final class RoutingIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** Which server answers. */
    static class Questions {
        private final JdbcTemplate jdbc;
        private final SpringTransactions transactions;

        Questions(JdbcTemplate jdbc, SpringTransactions transactions) {
            this.jdbc = jdbc;
            this.transactions = transactions;
        }

        @Workflow("ask")
        public String ask(WorkflowContext ctx, String unused) {
            String written = ctx.transaction("write", transactions, status -> server());
            String read = ctx.transaction("read", transactions, status -> server(), TransactionOptions.readOnly());
            return "written to " + written + ", read from " + read;
        }

        private String server() {
            return jdbc.queryForObject("SELECT name FROM server", String.class);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Questions.class)
    static class Application {
        private static boolean lazy;
        private static DataSource primary;
        private static DataSource replica;

        @Bean
        DataSource dataSource() {
            return lazy ? lazyOn(primary, replica) : routed();
        }

        // region replica
        /** Read-only transactions go to the replica, everything else to the primary server. */
        static DataSource lazyOn(DataSource primary, DataSource replica) {
            LazyConnectionDataSourceProxy source = new LazyConnectionDataSourceProxy(primary);
            source.setReadOnlyDataSource(replica);
            return source;
        }
        // endregion

        private static DataSource routed() {
            AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
                @Override
                protected Object determineCurrentLookupKey() {
                    return TransactionSynchronizationManager.isCurrentTransactionReadOnly();
                }
            };
            routing.setTargetDataSources(Map.of(false, primary, true, replica));
            routing.afterPropertiesSet();
            return new LazyConnectionDataSourceProxy(routing); // asks for the key after the transaction has begun
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void the_store_and_steps_that_write_use_the_primary_server(boolean lazy) {
        try (SharedPostgres.Fresh primary = SharedPostgres.database("primary");
                SharedPostgres.Fresh replica = SharedPostgres.database("replica");
                HikariDataSource primaryPool = pool(primary);
                HikariDataSource replicaPool = pool(replica)) {
            Application.lazy = lazy;
            Application.primary = primaryPool;
            Application.replica = replicaPool;
            name(primary, "primary");
            name(replica, "replica");
            try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
                    .web(WebApplicationType.NONE)
                    .properties("spring.main.banner-mode=off")
                    .run()) {
                assertThat(context.getBean(Perdure.class)
                                .start(Questions::ask, "")
                                .result(PATIENCE))
                        .isEqualTo("written to primary, read from replica");
            }
            assertThat(new JdbcTemplate(replica.dataSource())
                            .queryForObject("SELECT to_regnamespace('perdure') IS NULL", Boolean.class))
                    .isTrue();
        }
    }

    private static HikariDataSource pool(SharedPostgres.Fresh database) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(database.jdbcUrl());
        pool.setUsername(database.user());
        pool.setPassword(database.password());
        pool.setMinimumIdle(1);
        return pool;
    }

    private static void name(SharedPostgres.Fresh server, String name) {
        JdbcTemplate jdbc = new JdbcTemplate(server.dataSource());
        jdbc.execute("CREATE TABLE server AS SELECT '" + name + "' AS name");
    }
}
