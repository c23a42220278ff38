package dev.perdure.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.error.ClosedException;
import dev.perdure.object.ObjectHandle;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.torture.setup.Site;
import dev.perdure.torture.work.Ledgers;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A worker process that calls objects and waits, from many threads at once, so that callers join pipelines; it says
 * what each call gave. Ends with its standard input, so that it cannot outlive the test.
 */
public final class LocalCallerWorker {
    private static final int CALLERS = 16;

    private LocalCallerWorker() {}

    /**
     * Arguments: the JDBC URL, the user, the password, the first number to append, how many to append, the keys in
     * turn.
     */
    public static void main(String... args) throws IOException {
        AtomicInteger next = new AtomicInteger(Integer.parseInt(args[3]));
        int end = next.get() + Integer.parseInt(args[4]);
        List<String> keys = List.of(args).subList(5, args.length);
        try (HikariDataSource pool = SmallPool.of(args[0], args[1], args[2]);
                PostgresStore store = PostgresStore.on(pool).open()) {
            Perdure worker =
                    Perdure.on(store).register(new Ledgers()).lease(Site.LEASE).start();
            System.out.println("ready");
            for (int caller = 0; caller < CALLERS; caller++) {
                Thread.ofVirtual().start(() -> append(worker, keys, next, end));
            }
            System.in.readAllBytes();
            worker.close();
        }
    }

    private static void append(Perdure worker, List<String> keys, AtomicInteger next, int end) {
        try {
            for (int number = next.getAndIncrement(); number < end; number = next.getAndIncrement()) {
                String key = keys.get(number % keys.size());
                ObjectHandle<Ledgers> ledger = worker.object(Ledgers.class, key);
                int place = ledger.call(Ledgers::append, number);
                System.out.println("%s %d %d".formatted(key, place, number));
            }
        } catch (ClosedException over) {
            System.out.println("The test is over: " + over.getMessage());
        }
    }
}
