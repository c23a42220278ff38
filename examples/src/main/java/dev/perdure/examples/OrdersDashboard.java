package dev.perdure.examples;

import dev.perdure.Perdure;
import dev.perdure.dashboard.Dashboard;
import dev.perdure.memory.MemoryStore;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** Shows the orders of this process on the dashboard, until Ctrl-C. */
public final class OrdersDashboard {
    private OrdersDashboard() {}

    /** Starts some approvals that wait, and prints where to look at them. */
    public static void main(String[] args) throws InterruptedException {
        try (Perdure perdure = Perdure.on(new MemoryStore())
                .register(new Approvals(System.out::println))
                .closeTimeout(Duration.ofSeconds(5))
                .start()) {
            perdure.start(Approvals::ask, new Approvals.Request("a new chair", 19_900));
            serve(perdure, new CountDownLatch(1));
        }
    }

    static void serve(Perdure perdure, CountDownLatch end) throws InterruptedException {
        // region dashboard
        try (Dashboard dashboard = Dashboard.on(perdure).port(8080).start()) {
            System.out.println("Look at the runs at " + dashboard.address());
            // endregion
            end.await();
        }
    }
}
