package dev.perdure.spring;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RetryPolicy;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.TypeRef;
import dev.perdure.WorkflowBody;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.postgres.PostgresOutbox;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.spi.Inbox;
import dev.perdure.transaction.TransactionOptions;
import dev.perdure.transaction.TransactionSource;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceContext;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Tests with Spring's {@code @Transactional}, {@code JdbcTemplate} and JPA by Hibernate, on a real PostgreSQL. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // one database and one application for all tests
final class SpringTransactionsIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final TransactionOptions ONCE = TransactionOptions.defaults().retry(RetryPolicy.none());

    private SharedPostgres.Fresh database;
    private PostgresStore store;
    private AnnotationConfigApplicationContext spring;
    private Accounts accounts;
    private JdbcTemplate outside;
    private TransactionSource<TransactionStatus> transactions;

    /** An account as a JPA entity. */
    @Entity(name = "account")
    static class Account {
        @Id
        private String name;

        @Column(nullable = false)
        private int balance;
    }

    /** The application's own code, which does not use Perdure. */
    static class Accounts {
        private final JdbcTemplate jdbc;

        @PersistenceContext
        private jakarta.persistence.EntityManager entities;

        Accounts(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @Transactional
        public int takeByJdbc(String name, int amount) {
            jdbc.update("UPDATE account SET balance = balance - ? WHERE name = ?", amount, name);
            return jdbc.queryForObject("SELECT balance FROM account WHERE name = ?", Integer.class, name);
        }

        @Transactional
        public int takeByJpa(String name, int amount) {
            Account account = entities.find(Account.class, name);
            account.balance -= amount;
            return account.balance;
        }

        @Transactional
        public void fail() {
            throw new IllegalStateException("no");
        }

        @Transactional
        public RunId placeOrder(Perdure perdure, Inbox current, String order, boolean fails) {
            jdbc.update("INSERT INTO account VALUES (?, 0)", order);
            RunId run = perdure.outbox(current).start(Invocation.of("echo", order, TypeRef.of(Void.class)), id(order));
            if (fails) {
                throw new IllegalStateException("changed my mind");
            }
            return run;
        }
    }

    @Configuration
    @EnableTransactionManagement
    static class Application {
        @Bean
        LocalContainerEntityManagerFactoryBean entityManagerFactory(DataSource source) {
            LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
            factory.setDataSource(source);
            factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
            factory.setManagedTypes(
                    org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes.of(Account.class.getName()));
            factory.setJpaPropertyMap(Map.of("hibernate.hbm2ddl.auto", "none"));
            return factory;
        }

        @Bean
        PlatformTransactionManager transactionManager(EntityManagerFactory factory) {
            return new JpaTransactionManager(factory);
        }

        @Bean
        JdbcTemplate jdbcTemplate(DataSource source) {
            return new JdbcTemplate(source);
        }

        @Bean
        Accounts accounts(JdbcTemplate jdbc) {
            return new Accounts(jdbc);
        }
    }

    @BeforeAll
    void open() {
        database = SharedPostgres.database("spring");
        DataSource source = database.dataSource();
        store = PostgresStore.on(source).notifications(false).open();
        outside = new JdbcTemplate(database.dataSource());
        outside.execute("CREATE TABLE account (name varchar PRIMARY KEY, balance int NOT NULL)");
        spring = new AnnotationConfigApplicationContext();
        spring.registerBean(DataSource.class, () -> source);
        spring.register(Application.class);
        spring.refresh();
        accounts = spring.getBean(Accounts.class);
        transactions = SpringTransactions.on(store, spring.getBean(PlatformTransactionManager.class), source);
    }

    @BeforeEach
    void fill() {
        outside.execute("TRUNCATE account");
        outside.execute("INSERT INTO account VALUES ('a', 100), ('b', 100)");
    }

    @AfterAll
    void close() {
        spring.close();
        store.close();
        database.close();
    }

    private int run(WorkflowBody<Integer, Integer> body) {
        Definition<Integer, Integer> flow = Definition.of("flow", Integer.class, Integer.class, body);
        try (Perdure perdure = Perdure.on(store).register(flow).start()) {
            return perdure.start(Invocation.of(flow, 30)).result(PATIENCE);
        }
    }

    private int balance(String name) {
        return outside.queryForObject("SELECT balance FROM account WHERE name = ?", Integer.class, name);
    }

    @Test
    void transactional_methods_jdbc_and_jpa_join_and_are_one_commit_with_the_record() {
        int left = run((ctx, amount) -> ctx.transaction(
                "take", transactions, status -> accounts.takeByJdbc("a", amount) + accounts.takeByJpa("b", amount)));
        assertThat(left).isEqualTo(140);
        assertThat(outside.queryForObject("""
            SELECT count(*) FROM perdure.journal j
            JOIN account a ON a.xmin = j.xmin AND a.name = 'a' JOIN account b ON b.xmin = j.xmin AND b.name = 'b'
            """, Integer.class))
                .as("entries of the transaction that wrote both accounts")
                .isEqualTo(1);
    }

    @Test
    void an_exception_rolls_everything_back_and_is_tried_again() {
        AtomicInteger bodies = new AtomicInteger();
        run((ctx, amount) -> ctx.transaction(
                "take",
                transactions,
                status -> {
                    int left = accounts.takeByJdbc("a", amount) + accounts.takeByJpa("b", amount);
                    if (bodies.incrementAndGet() == 1) {
                        throw new IllegalStateException("once");
                    }
                    return left;
                },
                TransactionOptions.defaults().retry(RetryPolicy.standard().initialDelay(Duration.ofMillis(1)))));
        assertThat(balance("a")).isEqualTo(70);
        assertThat(balance("b")).isEqualTo(70);
    }

    @Test
    void a_conflict_inside_springs_exception_runs_the_body_again() {
        AtomicInteger bodies = new AtomicInteger();
        run((ctx, amount) -> ctx.transaction(
                "take",
                transactions,
                status -> {
                    accounts.takeByJdbc("b", 0);
                    if (bodies.incrementAndGet() == 1) {
                        outside.execute("UPDATE account SET balance = balance - 1 WHERE name = 'a'");
                    }
                    return accounts.takeByJdbc("a", amount);
                },
                TransactionOptions.isolation(TransactionOptions.Isolation.SERIALIZABLE)
                        .retry(RetryPolicy.none())));
        assertThat(bodies).hasValue(2);
        assertThat(balance("a")).isEqualTo(69);
    }

    @Test
    void a_full_disk_inside_springs_exception_is_waited_for() {
        JdbcTemplate inside = spring.getBean(JdbcTemplate.class);
        AtomicInteger bodies = new AtomicInteger();
        run((ctx, amount) -> ctx.transaction(
                "take",
                transactions,
                status -> {
                    if (bodies.incrementAndGet() < 3) {
                        inside.execute(
                                "DO $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = 'disk_full'; END $$");
                    }
                    return accounts.takeByJpa("a", amount);
                },
                ONCE));
        assertThat(bodies).hasValue(3);
        assertThat(balance("a")).isEqualTo(70);
    }

    @Test
    void a_body_that_thinks_for_too_long_after_its_last_statement_has_failed() {
        JdbcTemplate inside = spring.getBean(JdbcTemplate.class);
        AtomicInteger bodies = new AtomicInteger();
        Definition<Integer, Integer> flow = Definition.of(
                "flow",
                Integer.class,
                Integer.class,
                (ctx, amount) -> ctx.transaction(
                        "take",
                        transactions,
                        status -> {
                            bodies.incrementAndGet();
                            int left = accounts.takeByJdbc("a", amount);
                            int session = inside.queryForObject("SELECT pg_backend_pid()", Integer.class);
                            while (outside.queryForObject(
                                            "SELECT count(*) FROM pg_stat_activity WHERE pid = ?",
                                            Integer.class,
                                            session)
                                    > 0) {
                                Thread.onSpinWait();
                            }
                            return left;
                        },
                        ONCE));
        try (Perdure perdure =
                Perdure.on(store).lease(Duration.ofSeconds(2)).register(flow).start()) {
            assertThatThrownBy(() -> perdure.start(Invocation.of(flow, 30)).result(PATIENCE))
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining("Transaction step 'take' left its transaction idle for longer than PT1.5S");
        }
        assertThat(bodies).hasValue(1);
        assertThat(balance("a")).isEqualTo(100);
    }

    @Test
    void a_worker_that_lost_the_run_cannot_commit() {
        AtomicInteger bodies = new AtomicInteger();
        run((ctx, amount) -> ctx.transaction("take", transactions, status -> {
            if (bodies.incrementAndGet() == 1) {
                outside.execute("UPDATE perdure.worker SET expires_at = now() - interval '1 s'");
                assertThat(store.leases().sweep(10)).hasSize(1);
            }
            return accounts.takeByJpa("a", amount);
        }));
        assertThat(bodies).hasValue(2);
        assertThat(balance("a")).isEqualTo(70);
    }

    @Test
    void a_swallowed_failure_inside_does_not_pass_for_a_commit() {
        assertThatThrownBy(() -> run((ctx, amount) -> ctx.transaction(
                        "take",
                        transactions,
                        status -> {
                            int left = accounts.takeByJdbc("a", amount);
                            try {
                                accounts.fail();
                            } catch (IllegalStateException swallowed) {
                                return left;
                            }
                            throw new AssertionError("it fails");
                        },
                        ONCE)))
                .isInstanceOf(RunFailedException.class)
                .hasMessageContaining("marked its transaction for rollback");
        assertThat(balance("a")).isEqualTo(100);
    }

    @Test
    void an_exception_after_the_commit_does_not_repeat_the_step() {
        AtomicInteger bodies = new AtomicInteger();
        int left = run((ctx, amount) -> ctx.transaction(
                "take",
                transactions,
                status -> {
                    bodies.incrementAndGet();
                    TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                        @Override
                        public void afterCommit() {
                            throw new IllegalStateException("the cache is away");
                        }
                    });
                    return accounts.takeByJdbc("a", amount);
                },
                ONCE));
        assertThat(left).isEqualTo(70);
        assertThat(bodies).hasValue(1);
        assertThat(balance("a")).isEqualTo(70);
    }

    @Test
    void a_data_source_that_itself_joins_transactions_works() {
        DataSource joining = new TransactionAwareDataSourceProxy(spring.getBean(DataSource.class));
        TransactionSource<TransactionStatus> throughProxy =
                SpringTransactions.on(store, spring.getBean(PlatformTransactionManager.class), joining);
        int left = run((ctx, amount) ->
                ctx.transaction("take", throughProxy, status -> accounts.takeByJdbc("a", amount), ONCE));
        assertThat(left).isEqualTo(70);
        Definition<String, String> echo = Definition.of("echo", String.class, String.class, (ctx, in) -> in);
        try (Perdure perdure = Perdure.on(store).register(echo).start()) {
            Inbox current = SpringOutbox.current(PostgresOutbox.on(store), joining);
            await(perdure, accounts.placeOrder(perdure, current, "order-4", false));
        }
    }

    @Test
    void a_manager_of_another_data_source_is_refused() {
        PlatformTransactionManager other = new DataSourceTransactionManager(database.dataSource());
        DataSource source = spring.getBean(DataSource.class);
        TransactionSource<TransactionStatus> mixed = SpringTransactions.on(store, other, source);
        assertThatThrownBy(() -> run(
                        (ctx, amount) -> ctx.transaction("take", mixed, status -> accounts.takeByJdbc("a", amount))))
                .isInstanceOf(RunFailedException.class)
                .hasMessageContaining("does not manage connections of");
        assertThat(balance("a")).isEqualTo(100);
        Definition<String, String> echo = Definition.of("echo", String.class, String.class, (ctx, in) -> in);
        Inbox current = SpringOutbox.current(PostgresOutbox.on(store), source);
        try (Perdure perdure = Perdure.on(store).register(echo).client()) {
            assertThatThrownBy(() -> new TransactionTemplate(other)
                            .executeWithoutResult(
                                    status -> perdure.outbox(current).start(Invocation.of(echo, "x"), id("order-5"))))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("No transaction of this DataSource is active");
        }
    }

    @Test
    void a_manager_of_another_database_is_refused_at_once() {
        try (SharedPostgres.Fresh other = SharedPostgres.database("other")) {
            DataSource source = other.dataSource();
            JdbcTemplate there = new JdbcTemplate(source);
            there.execute("CREATE TABLE note (text text)");
            TransactionSource<TransactionStatus> elsewhere =
                    SpringTransactions.on(store, new DataSourceTransactionManager(source), source);
            assertThatThrownBy(() -> run((ctx, amount) -> ctx.transaction(
                            "note", elsewhere, status -> there.update("INSERT INTO note VALUES ('x')"))))
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining("is not in the database with Perdure's tables")
                    .hasMessageContaining("OtherDatabase");
            assertThat(there.queryForObject("SELECT count(*) FROM note", Integer.class))
                    .isZero();
        }
    }

    @Test
    void a_run_is_started_by_the_commit_of_springs_current_transaction() {
        Definition<String, String> echo = Definition.of("echo", String.class, String.class, (ctx, in) -> in);
        Inbox current = SpringOutbox.current(PostgresOutbox.on(store), spring.getBean(DataSource.class));
        try (Perdure perdure = Perdure.on(store).register(echo).start()) {
            assertThatThrownBy(() -> accounts.placeOrder(perdure, current, "order-1", true))
                    .isInstanceOf(IllegalStateException.class);
            RunId run = accounts.placeOrder(perdure, current, "order-2", false);
            await(perdure, run);
            assertThat(perdure.runs(RunFilter.all().idPrefix("order-1")).list()).isEmpty();
            assertThatThrownBy(() -> perdure.outbox(current).start(Invocation.of(echo, "x"), id("order-3")))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("No transaction of this DataSource is active");
        }
    }

    private static void await(Perdure perdure, RunId run) {
        long limit = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                assertThat(perdure.run(run, new TypeRef<String>() {}).result(PATIENCE))
                        .isEqualTo(run.value());
                return;
            } catch (UnknownRunException notYet) {
                assertThat(System.nanoTime()).isLessThan(limit);
                Thread.onSpinWait();
            }
        }
    }
}
