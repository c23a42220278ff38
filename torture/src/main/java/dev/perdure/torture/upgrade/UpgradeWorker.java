package dev.perdure.torture.upgrade;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.torture.setup.Address;
import java.io.IOException;

/** A worker process of the older version. It is killed in the midst of its work. */
final class UpgradeWorker {
    private UpgradeWorker() {}

    /** Arguments: the address of the database. */
    public static void main(String... arguments) throws IOException {
        try (HikariDataSource pool = Address.of(arguments, 0).pool();
                PostgresStore store = PostgresStore.on(pool).open()) {
            PerdureBuilder builder = Perdure.on(store);
            new UpgradeDefinitions(Hold.BEFORE).register(builder);
            Perdure worker = builder.start();
            System.out.println("ready");
            System.in.readAllBytes();
            worker.close();
        }
    }
}
