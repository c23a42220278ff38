package dev.perdure.examples.shop;

import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.examples.shop.Purchase.Status;
import dev.perdure.schedule.Fire;
import dev.perdure.schedule.Scheduled;
import dev.perdure.spring.SpringTransactions;
import java.time.LocalDate;
import java.time.ZoneId;
import org.springframework.stereotype.Component;

/** Reports every night how many orders were shipped. */
@Component
public class DailySales {
    private static final String ZONE = "Europe/Berlin";

    private final Purchases purchases;
    private final SalesReports reports;
    private final SpringTransactions transactions;

    DailySales(Purchases purchases, SalesReports reports, SpringTransactions transactions) {
        this.purchases = purchases;
        this.reports = reports;
        this.transactions = transactions;
    }

    // region schedule
    @Workflow("daily-sales")
    @Scheduled(cron = "0 2 * * *", zone = ZONE)
    public void write(WorkflowContext ctx) {
        LocalDate day = LocalDate.ofInstant(Fire.of(ctx).orElseThrow().scheduledFor(), ZoneId.of(ZONE));
        ctx.transact(
                "write",
                transactions,
                status -> reports.save(new SalesReport(day, purchases.countByStatus(Status.SHIPPED))));
    }
    // endregion
}
