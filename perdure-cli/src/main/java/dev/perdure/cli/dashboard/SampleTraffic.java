package dev.perdure.cli.dashboard;

import static dev.perdure.StartOptions.id;

import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.cli.dashboard.SampleShop.Order;
import dev.perdure.cli.dashboard.SampleShop.Upload;
import dev.perdure.queue.Queue;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import dev.perdure.spi.Store;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Keeps the sample shop busy: orders all the time, files in bursts, a graph and an approval now and then. */
public final class SampleTraffic implements AutoCloseable {
    private static final Duration PERIOD = Duration.ofMillis(1_500);
    private static final int HEAD_START = 24;
    private static final int BURST = 30;
    private static final Queue IMPORTS = Queue.named("imports").concurrency(3).perKey(2);
    private static final String[] CUSTOMERS = {"Ada", "Grace", "Barbara", "Radia", "Frances"};

    private final Perdure perdure;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread;
    private int number;

    /** Traffic that starts its runs with this engine. */
    public SampleTraffic(Perdure perdure) {
        this.perdure = perdure;
        this.thread = Thread.ofVirtual().name("perdure-sample-traffic").unstarted(this::trade);
    }

    /** A worker of the sample shop, with the version of its code. */
    public static PerdureBuilder worker(Store store, String version) {
        return Perdure.on(store)
                .version(version)
                .register(new SampleShop(), new SampleAccount(), SampleGraph.CATALOGUE)
                .queues(StartOptions.DEFAULT_QUEUE)
                .queues(IMPORTS)
                .schedules(
                        Schedule.of(
                                "minute-report", Times.every(Duration.ofMinutes(1)), Invocation.of(SampleShop::report)),
                        Schedule.cron(
                                "nightly-report", "30 2 * * *", ZoneOffset.UTC, Invocation.of(SampleShop::report)));
    }

    /** Begins. */
    public void start() {
        thread.start();
    }

    private void trade() {
        for (int i = 0; i < HEAD_START; i++) {
            next();
        }
        try {
            while (!closed.await(PERIOD.toMillis(), TimeUnit.MILLISECONDS)) {
                next();
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private void next() {
        number++;
        Order order = new Order(number, CUSTOMERS[number % CUSTOMERS.length], 1_000 + number * 37 % 9_000);
        perdure.start(SampleShop::order, order, id("order-" + number).attribute(SampleShop.CUSTOMER, order.customer()));
        perdure.object(SampleAccount.class, order.customer()).send(SampleAccount::add, order, id("points-" + number));
        if (number % 10 == 0) {
            release(number - 10);
            perdure.start(SampleGraph.CATALOGUE, number / 10, id("catalogue-" + number / 10));
            perdure.start(SampleShop::approve, "budget " + number, id("approval-" + number / 10));
        }
        if (number % 20 == 1) {
            for (int file = 0; file < BURST; file++) {
                Upload upload = new Upload("supplier-" + (char) ('a' + file % 3), number + file);
                perdure.start(
                        SampleShop::load,
                        upload,
                        id("import-%s-%s".formatted(number, file))
                                .queue(IMPORTS.name())
                                .key(upload.supplier()));
            }
        }
    }

    /** The warehouse lets go of an order that it has held. It may have stopped waiting. */
    private void release(int held) {
        RunId run = RunId.of("order-" + held);
        boolean waits = held > 0
                && !perdure.run(run, TypeRef.of(SampleShop.Receipt.class))
                        .state()
                        .isTerminal();
        if (waits) {
            perdure.send(run, SampleShop.RELEASE, "shelf 7");
        }
    }

    /** Ends the traffic. Runs under way continue. */
    @Override
    public void close() {
        closed.countDown();
    }
}
