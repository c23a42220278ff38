package dev.perdure.compatibility;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import dev.perdure.spring.SpringTransactions;
import dev.perdure.spring.boot.PerdureEndpoint;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

/** The starter in an application of this Spring Boot. */
class StarterTest {
    /** A workflow in a bean that Spring wraps in a proxy because of its other method. */
    static class Sales {
        private final JdbcTemplate jdbc;
        private final SpringTransactions transactions;
        private final Outbox outbox;

        Sales(JdbcTemplate jdbc, SpringTransactions transactions, Outbox outbox) {
            this.jdbc = jdbc;
            this.transactions = transactions;
            this.outbox = outbox;
        }

        @Workflow("sale")
        public int sell(WorkflowContext ctx, String item) {
            return ctx.transaction(
                    "sell", transactions, status -> jdbc.update("INSERT INTO sale VALUES (?)", item));
        }

        @Transactional
        public RunId request(String item, boolean fails) {
            RunId run = outbox.start(Sales::sell, item, id(item));
            if (fails) {
                throw new IllegalStateException("changed my mind");
            }
            return run;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Sales.class)
    static class Shop {
        private final BlockingQueue<RunId> completed = new LinkedBlockingQueue<>();
        private int workersBeforeReady = -1;

        @Bean
        RunListener completed() {
            return change -> {
                if (change.state() == RunState.COMPLETED) {
                    completed.add(change.runId());
                }
            };
        }

        @Bean
        ApplicationRunner runner(Perdure perdure) {
            return arguments -> workersBeforeReady = perdure.status().workers();
        }
    }

    private static ConfigurableApplicationContext start(SharedPostgres.Fresh database, String... properties) {
        return new SpringApplicationBuilder(Shop.class)
                .web(WebApplicationType.NONE)
                .properties(
                        "spring.main.banner-mode=off",
                        "spring.datasource.hikari.minimum-idle=1",
                        "spring.datasource.url=" + database.jdbcUrl(),
                        "spring.datasource.username=" + database.user(),
                        "spring.datasource.password=" + database.password())
                .properties(properties)
                .run();
    }

    /** The interface of a health indicator is not the same in Boot 3 and 4. */
    private static String health(ConfigurableApplicationContext context) throws Exception {
        Object endpoint = context.getBean("healthEndpoint");
        Object health = endpoint.getClass()
                .getMethod("healthForPath", String[].class)
                .invoke(endpoint, (Object) new String[] {"perdure"});
        return health.getClass().getMethod("getStatus").invoke(health).toString();
    }

    @Test
    void workflows_run_in_an_application() throws Exception {
        try (SharedPostgres.Fresh database = SharedPostgres.database("starter")) {
            new JdbcTemplate(database.dataSource()).execute("CREATE TABLE sale (item text)");
            try (ConfigurableApplicationContext context = start(database, "perdure.worker.close-timeout=5s")) {
                Perdure perdure = context.getBean(Perdure.class);
                Sales sales = context.getBean(Sales.class);
                assertThat(context.getBean(Shop.class).workersBeforeReady).isZero();
                assertThat(AopUtils.isCglibProxy(sales)).isTrue();
                BlockingQueue<RunId> completed = context.getBean(Shop.class).completed;
                assertThatThrownBy(() -> sales.request("pen", true)).isInstanceOf(IllegalStateException.class);
                RunId sold = sales.request("book", false);
                assertThat(completed.poll(30, TimeUnit.SECONDS)).isEqualTo(sold);
                assertThat(perdure.run(sold, TypeRef.of(Integer.class)).result())
                        .isEqualTo(1);
                assertThatThrownBy(() -> perdure.run(RunId.of("pen"), TypeRef.of(Integer.class)))
                        .isInstanceOf(UnknownRunException.class);
                assertThat(health(context)).isEqualTo("UP");
                assertThat(context.getBean(MeterRegistry.class)
                                .get("perdure.runs.started")
                                .tag("definition", "sale")
                                .counter()
                                .count())
                        .isPositive();
                assertThat(context.getBean(PerdureEndpoint.class).report().workers())
                        .isEqualTo(1);
            }
            assertThatThrownBy(() -> start(database, "perdure.worker.lease=1ms"))
                    .rootCause()
                    .hasMessageContaining("perdure.worker.lease");
        }
    }
}
