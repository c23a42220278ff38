package dev.perdure.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.StartOptions;
import dev.perdure.error.ClosedException;
import dev.perdure.object.ObjectHandle;
import dev.perdure.postgres.PostgresStore;
import java.io.IOException;
import java.util.Arrays;

/**
 * A worker process that makes calls of its own and carries on those of all. Ends with its standard input, so that it
 * cannot outlive the test.
 */
public final class ObjectWorker {
    private ObjectWorker() {}

    /** Arguments: the JDBC URL, the user, the password, its part as {@code number/parts/keys/appends}. */
    public static void main(String... args) throws IOException {
        int[] part =
                Arrays.stream(args[3].split("/")).mapToInt(Integer::parseInt).toArray();
        try (HikariDataSource pool = CrashWorker.pool(args[0], args[1], args[2]);
                PostgresStore store = PostgresStore.on(pool).open()) {
            Perdure worker = Perdure.on(store)
                    .register(new Ledgers())
                    .lease(CrashWorker.LEASE)
                    .start();
            System.out.println("ready");
            for (int key = 0; key < part[2]; key++) {
                String name = "key-" + key;
                Thread.ofVirtual().start(() -> append(worker.object(Ledgers.class, name), name, part));
            }
            System.in.readAllBytes();
            worker.close();
        }
    }

    /** In order, and again from the first after a death: what was appended before is not appended again. */
    private static void append(ObjectHandle<Ledgers> ledger, String key, int... part) {
        try {
            for (int number = part[0]; number < part[3]; number += part[1]) {
                StartOptions options = StartOptions.id("%s-%d".formatted(key, number));
                if (number % 2 == 0) {
                    ledger.send(Ledgers::append, number, options);
                } else {
                    ledger.send(Ledgers::appendInTwo, number, options);
                }
            }
        } catch (ClosedException over) {
            System.out.println("The test is over: " + over.getMessage());
        }
    }
}
