package dev.perdure.spring.boot.test;

import static dev.perdure.StartOptions.id;

import dev.perdure.Outbox;
import dev.perdure.Perdure;
import dev.perdure.RunId;
import dev.perdure.RunListener;
import dev.perdure.RunState;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.queue.Queue;
import dev.perdure.schedule.Scheduled;
import dev.perdure.spring.SpringTransactions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

/** An application with one table, one workflow in it and one on a schedule. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(ShopConfiguration.Orders.class)
class ShopConfiguration {
    static final Duration PATIENCE = Duration.ofDays(30);

    /** The runs that ended, of all tests. */
    final List<RunId> ended = new CopyOnWriteArrayList<>();

    static class Orders {
        private final JdbcTemplate jdbc;
        private final SpringTransactions transactions;
        private final Outbox outbox;

        Orders(JdbcTemplate jdbc, SpringTransactions transactions, Outbox outbox) {
            this.jdbc = jdbc;
            this.transactions = transactions;
            this.outbox = outbox;
            jdbc.execute("CREATE TABLE IF NOT EXISTS sale (item text)");
        }

        @Workflow("order")
        public int process(WorkflowContext ctx, String item) {
            ctx.sleep(PATIENCE);
            return ctx.transaction("sell", transactions, status -> jdbc.update("INSERT INTO sale VALUES (?)", item));
        }

        @Workflow("count")
        @Scheduled(cron = "0 2 * * *", zone = "UTC")
        public void count(WorkflowContext ctx) {}

        @Transactional
        public RunId place(String item) {
            return outbox.start(Orders::process, item, id("order"));
        }

        int sales(String item) {
            return jdbc.queryForObject("SELECT count(*) FROM sale WHERE item = ?", Integer.class, item);
        }
    }

    @Bean
    Queue slow() {
        return Queue.named("slow").concurrency(1);
    }

    @Bean
    RunListener listener() {
        return change -> {
            if (change.state() == RunState.COMPLETED) {
                ended.add(change.runId());
            }
        };
    }

    @Bean
    ApplicationRunner runner(Perdure perdure) {
        return arguments -> perdure.start(Orders::process, "early", id("order"));
    }
}
