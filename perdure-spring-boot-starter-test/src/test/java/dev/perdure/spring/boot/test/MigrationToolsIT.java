package dev.perdure.spring.boot.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Perdure;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.error.StoreException;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.spring.SpringTransactions;
import java.time.Duration;
import javax.sql.DataSource;
import org.flywaydb.core.api.migration.BaseJavaMigration;
import org.flywaydb.core.api.migration.Context;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/** Flyway and Liquibase beside the store: the owner migrates, and the application has fewer rights. */
class MigrationToolsIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final SharedPostgres.Fresh database = SharedPostgres.database("migrations");
    private final JdbcTemplate owner = new JdbcTemplate(database.dataSource());

    static class Sales {
        private final JdbcTemplate jdbc;
        private final SpringTransactions transactions;

        Sales(JdbcTemplate jdbc, SpringTransactions transactions) {
            this.jdbc = jdbc;
            this.transactions = transactions;
        }

        @Workflow("sale")
        public int sell(WorkflowContext ctx, String item) {
            return ctx.transaction("sell", transactions, status -> jdbc.update("INSERT INTO sale VALUES (?)", item));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Sales.class)
    static class Shop {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Sales.class, R__Perdure.class})
    static class ShopWithFlyway {}

    // region flyway
    /** Flyway runs it as the owner, and again whenever this version of Perdure has other migrations than the last. */
    @Component
    static class R__Perdure extends BaseJavaMigration {
        @Override
        public Integer getChecksum() {
            return PostgresStore.migrations("perdure").hashCode();
        }

        @Override
        public void migrate(Context context) {
            DataSource owner = context.getConfiguration().getDataSource();
            PostgresStore.on(owner).notifications(false).open().close(); // migrates
            new JdbcTemplate(owner).execute(PostgresStore.grants("perdure", "shop_worker", "shop_viewer"));
        }
    }
    // endregion

    @BeforeEach
    void roles() {
        owner.execute("CREATE ROLE shop_worker LOGIN PASSWORD 'secret'");
        owner.execute("CREATE ROLE shop_viewer");
    }

    @AfterEach
    void drop() {
        owner.execute("DROP OWNED BY shop_worker, shop_viewer");
        owner.execute("DROP ROLE shop_worker, shop_viewer");
        database.close();
    }

    private ConfigurableApplicationContext start(Class<?> application, String... properties) {
        return new SpringApplicationBuilder(application)
                .web(WebApplicationType.NONE)
                .properties(
                        "spring.main.banner-mode=off",
                        "spring.datasource.hikari.minimum-idle=1",
                        "spring.datasource.url=" + database.jdbcUrl(),
                        "spring.datasource.username=shop_worker",
                        "spring.datasource.password=secret")
                .run(properties);
    }

    private static void sell(ConfigurableApplicationContext context) {
        assertThat(context.getBean(Perdure.class).start(Sales::sell, "book").result(PATIENCE))
                .isEqualTo(1);
    }

    @Test
    void flyway_migrates_as_the_owner_before_the_store_opens() {
        try (ConfigurableApplicationContext context = start(
                ShopWithFlyway.class,
                "--spring.flyway.enabled=true",
                "--spring.flyway.locations=classpath:db/shop",
                "--spring.flyway.user=" + database.user(),
                "--spring.flyway.password=" + database.password(),
                "--perdure.store.migrate=false")) {
            sell(context);
        }
        assertThat(owner.queryForObject(
                        "SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 'perdure'", String.class))
                .isEqualTo(database.user());
    }

    @Test
    void liquibase_creates_the_schema_before_the_store_opens() {
        try (ConfigurableApplicationContext context = start(
                Shop.class,
                "--spring.liquibase.enabled=true",
                "--spring.liquibase.change-log=classpath:db/shop/changelog.sql",
                "--spring.liquibase.user=" + database.user(),
                "--spring.liquibase.password=" + database.password())) {
            sell(context);
        }
    }

    @Test
    void without_a_migration_by_the_owner_the_application_does_not_start() {
        assertThatThrownBy(() -> start(Shop.class, "--perdure.store.migrate=false"))
                .rootCause()
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("has not been migrated");
    }
}
