package dev.perdure.spring.boot;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Outbox;
import dev.perdure.Perdure;
import dev.perdure.RunId;
import dev.perdure.RunListener;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.error.UnknownRunException;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.spring.SpringTransactions;
import dev.perdure.spring.boot.internal.RunningEngine;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** Applications as users write them, on a real PostgreSQL. */
final class ApplicationIT {
    /** The application's own code. */
    static class Stock {
        private final JdbcTemplate jdbc;

        Stock(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @Transactional
        public int take(String item) {
            jdbc.update("UPDATE stock SET count = count - 1 WHERE item = ?", item);
            return left(item);
        }

        public int left(String item) {
            return jdbc.queryForObject("SELECT count FROM stock WHERE item = ?", Integer.class, item);
        }
    }

    /** Its workflow, in a bean that Spring wraps in a proxy because of its other method. */
    @Component
    static class Orders {
        private final Stock stock;
        private final SpringTransactions transactions;
        private final Outbox outbox;

        Orders(Stock stock, SpringTransactions transactions, Outbox outbox) {
            this.stock = stock;
            this.transactions = transactions;
            this.outbox = outbox;
        }

        @Workflow("order")
        public int process(WorkflowContext ctx, String item) {
            return ctx.transaction("take", transactions, status -> stock.take(item));
        }

        @Transactional
        public RunId place(String item, String number, boolean fails) {
            RunId run = outbox.start(Orders::process, item, id(number));
            if (fails) {
                throw new IllegalStateException("changed my mind");
            }
            return run;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Stock.class, Orders.class})
    static class Shop {
        private final BlockingQueue<RunId> completed = new LinkedBlockingQueue<>();

        @Bean
        RunListener completed() {
            return change -> {
                if (change.state() == RunState.COMPLETED) {
                    completed.add(change.runId());
                }
            };
        }
    }

    private static ConfigurableApplicationContext start(
            Class<?> application, SharedPostgres.Fresh database, String... properties) {
        return builder(application, database, properties).run();
    }

    private static SpringApplicationBuilder builder(
            Class<?> application, SharedPostgres.Fresh database, String... properties) {
        return new SpringApplicationBuilder(application)
                .web(WebApplicationType.NONE)
                .properties(
                        "spring.main.banner-mode=off",
                        "spring.datasource.hikari.minimum-idle=1",
                        "spring.datasource.url=" + database.jdbcUrl(),
                        "spring.datasource.username=" + database.user(),
                        "spring.datasource.password=" + database.password())
                .properties(properties);
    }

    @Test
    void steps_and_starts_join_the_transactions_of_the_application() throws Exception {
        try (SharedPostgres.Fresh database = SharedPostgres.database("shop")) {
            JdbcTemplate outside = new JdbcTemplate(database.dataSource());
            outside.execute("CREATE TABLE stock (item text PRIMARY KEY, count int NOT NULL)");
            outside.execute("INSERT INTO stock VALUES ('book', 10)");
            try (ConfigurableApplicationContext context = start(Shop.class, database)) {
                Orders orders = context.getBean(Orders.class);
                assertThat(AopUtils.isCglibProxy(orders)).isTrue();
                Perdure perdure = context.getBean(Perdure.class);

                BlockingQueue<RunId> completed = context.getBean(Shop.class).completed;

                RunId placed = orders.place("book", "order-1", false);
                assertThat(completed.poll(30, TimeUnit.SECONDS)).isEqualTo(placed);
                assertThat(perdure.run(placed, TypeRef.of(Integer.class)).result())
                        .isEqualTo(9);

                assertThatThrownBy(() -> orders.place("book", "order-2", true))
                        .isInstanceOf(IllegalStateException.class);
                RunId next = orders.place("book", "order-3", false);
                assertThat(completed.poll(30, TimeUnit.SECONDS)).isEqualTo(next);
                assertThatThrownBy(() -> perdure.run(RunId.of("order-2"), TypeRef.of(Integer.class)))
                        .isInstanceOf(UnknownRunException.class);
                assertThat(context.getBean(Stock.class).left("book")).isEqualTo(8);
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class TwoPools {
        private static SharedPostgres.Fresh own;

        // region own-pool
        @Bean(defaultCandidate = false)
        @PerdureDataSource
        HikariDataSource perdureDataSource() {
            HikariDataSource pool = new HikariDataSource();
            pool.setJdbcUrl(own.jdbcUrl());
            pool.setUsername(own.user());
            pool.setPassword(own.password());
            return pool;
        }
        // endregion
    }

    private static HikariDataSource pool(SharedPostgres.Fresh database) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(database.jdbcUrl());
        pool.setUsername(database.user());
        pool.setPassword(database.password());
        pool.setMinimumIdle(1);
        return pool;
    }

    private static boolean hasRuns(DataSource source, String schema) {
        return new JdbcTemplate(source)
                .queryForObject("SELECT to_regclass(?) IS NOT NULL", Boolean.class, schema + ".run");
    }

    @Test
    void the_store_uses_the_marked_data_source_and_its_properties() {
        try (SharedPostgres.Fresh application = SharedPostgres.database("application");
                SharedPostgres.Fresh own = SharedPostgres.database("own")) {
            TwoPools.own = own;
            try (ConfigurableApplicationContext context =
                    start(TwoPools.class, application, "perdure.store.schema=durable")) {
                assertThat(context.getBeansOfType(PostgresStore.class)).hasSize(1);
                assertThat(hasRuns(own.dataSource(), "durable")).isTrue();
                assertThat(hasRuns(application.dataSource(), "durable")).isFalse();
            }
            assertThatThrownBy(() -> start(TwoPools.class, application, "perdure.store.lanes=0"))
                    .rootCause()
                    .isInstanceOf(InvalidConfigurationPropertyValueException.class)
                    .hasMessageContaining("perdure.store.lanes")
                    .hasMessageContaining("The number of lanes is 0");
            try (ConfigurableApplicationContext context = start(TwoPools.class, application, "perdure.enabled=false")) {
                assertThat(context.getBeanNamesForType(Perdure.class)).isEmpty();
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class TwoMarked {
        @Bean(defaultCandidate = false)
        @PerdureDataSource
        DataSource one() {
            return TwoPools.own.dataSource();
        }

        @Bean(defaultCandidate = false)
        @PerdureDataSource
        DataSource other() {
            return TwoPools.own.dataSource();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(excludeName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
    @Import(TwoPools.class)
    static class OnlyMarked {}

    @Test
    void the_marked_data_source_is_one_and_may_be_the_only_one() {
        try (SharedPostgres.Fresh application = SharedPostgres.database("application");
                SharedPostgres.Fresh own = SharedPostgres.database("own")) {
            TwoPools.own = own;
            assertThatThrownBy(() -> start(TwoMarked.class, application))
                    .rootCause()
                    .isInstanceOf(NoUniqueBeanDefinitionException.class)
                    .hasMessageContaining("one,other");
            assertThat(hasRuns(application.dataSource(), "perdure")).isFalse();
            try (ConfigurableApplicationContext context = start(OnlyMarked.class, application)) {
                assertThat(context.getBean(Perdure.class).status().workers()).isEqualTo(1);
                assertThat(hasRuns(own.dataSource(), "perdure")).isTrue();
            }
        }
    }

    /** An application whose data source joins Spring's transactions, for code that knows only JDBC. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Joining {
        private static HikariDataSource pool;

        @Bean
        DataSource dataSource() {
            return new TransactionAwareDataSourceProxy(pool);
        }

        @Bean
        Definition<String, String> echo() {
            return ECHO;
        }
    }

    private static final Definition<String, String> ECHO =
            Definition.of("echo", String.class, String.class, (ctx, text) -> text);

    @Test
    void the_store_does_not_commit_the_transaction_of_its_caller() {
        try (SharedPostgres.Fresh database = SharedPostgres.database("joining");
                HikariDataSource pool = pool(database)) {
            Joining.pool = pool;
            try (ConfigurableApplicationContext context = start(Joining.class, database)) {
                JdbcTemplate jdbc = new JdbcTemplate(context.getBean(DataSource.class));
                jdbc.execute("CREATE TABLE note (text text)");
                new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
                        .executeWithoutResult(status -> {
                            jdbc.update("INSERT INTO note VALUES ('x')");
                            context.getBean(Perdure.class).start(Invocation.of(ECHO, "x"));
                            status.setRollbackOnly();
                        });
                assertThat(jdbc.queryForObject("SELECT count(*) FROM note", Integer.class))
                        .isZero();
            }
        }
    }

    /** A database that is away for a while: who asks the pool for a connection waits. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Away {
        private static HikariDataSource pool;
        private static final CountDownLatch BACK = new CountDownLatch(1);
        private static final AtomicInteger CHECKS = new AtomicInteger();
        private static volatile boolean away;

        @Bean
        DataSource dataSource() {
            return new DelegatingDataSource(pool) {
                @Override
                public Connection getConnection() throws SQLException {
                    if (away) {
                        if (Thread.currentThread().getName().equals("perdure-health")) {
                            CHECKS.incrementAndGet();
                        }
                        try {
                            BACK.await();
                        } catch (InterruptedException interrupted) {
                            throw new SQLException("interrupted", "08000", interrupted);
                        }
                    }
                    return super.getConnection();
                }
            };
        }
    }

    @Test
    void a_health_check_does_not_wait_for_a_database_that_is_away() {
        try (SharedPostgres.Fresh database = SharedPostgres.database("away");
                HikariDataSource pool = pool(database)) {
            Away.pool = pool;
            try (ConfigurableApplicationContext context = start(Away.class, database)) {
                HealthCheck check = new HealthCheck(context.getBean(RunningEngine.class), Duration.ofMillis(20));
                HealthCheck patient = new HealthCheck(context.getBean(RunningEngine.class), Duration.ofSeconds(30));
                assertThat(patient.result().up()).isTrue();
                Away.away = true;
                for (int i = 0; i < 3; i++) {
                    EngineHealth health = check.result();
                    assertThat(health.up()).isFalse();
                    assertThat(health.details().get("error"))
                            .asString()
                            .startsWith("The store has not answered within 20 ms.");
                }
                assertThat(Away.CHECKS.get()).isLessThanOrEqualTo(1);
                Away.away = false;
                Away.BACK.countDown();
                assertThat(patient.result().up()).isTrue();
            } finally {
                Away.BACK.countDown();
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Empty {}

    private static List<String> logOf(SharedPostgres.Fresh database, String... properties) {
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        Logger logger = (Logger) LoggerFactory.getLogger("dev.perdure.store");
        try {
            builder(Empty.class, database, properties)
                    .initializers(
                            unused -> { // after Boot has set up the log
                                logger.setLevel(Level.INFO);
                                logger.addAppender(lines);
                                lines.start();
                            })
                    .run()
                    .close();
            return lines.list.stream()
                    .map(event -> event.getLevel() + " " + event.getFormattedMessage())
                    .toList();
        } finally {
            logger.detachAppender(lines);
        }
    }

    @Test
    void the_log_says_how_many_connections_of_the_pool_the_store_takes() {
        try (SharedPostgres.Fresh database = SharedPostgres.database("pool")) {
            assertThat(logOf(database, "spring.datasource.hikari.pool-name=shop"))
                    .contains("INFO Perdure takes up to 5 of the 10 connections of the pool 'shop'.");
            assertThat(logOf(
                            database,
                            "spring.datasource.hikari.pool-name=shop",
                            "spring.datasource.hikari.maximum-pool-size=4",
                            "perdure.store.lanes=3"))
                    .first()
                    .asString()
                    .startsWith("WARN Perdure takes up to 6 connections, and the pool 'shop' has only 4")
                    .contains("spring.datasource.hikari.maximum-pool-size", "@PerdureDataSource");
        }
    }
}
