package dev.perdure.torture;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.torture.upgrade.Dump;
import dev.perdure.torture.upgrade.UpgradeRuns;
import java.io.IOException;
import java.io.InputStream;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Databases that older versions have written, kept as dumps: this version migrates them, and ends their runs. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class UpgradeIT {
    private static void restore(String dump, SharedPostgres.Fresh database) throws IOException, SQLException {
        try (InputStream in = requireNonNull(UpgradeIT.class.getResourceAsStream("upgrade/" + dump))) {
            Dump.restore(in, database.dataSource());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = "schema-083.sql.gz")
    void runs_are_in_the_state_in_which_the_older_version_has_left_them(String dump) throws Exception {
        try (SharedPostgres.Fresh database = SharedPostgres.database("upgrade")) {
            restore(dump, database);
            try (PostgresStore store = PostgresStore.on(database.dataSource()).open();
                    Perdure client = Perdure.on(store).client()) {
                assertThat(new UpgradeRuns(client).others()).isEmpty();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = "schema-083.sql.gz")
    @Tag("thorough")
    void every_run_that_an_older_version_has_begun_comes_to_its_end(String dump) throws Exception {
        try (SharedPostgres.Fresh database = SharedPostgres.database("upgrade")) {
            restore(dump, database);
            try (PostgresStore store = PostgresStore.on(database.dataSource()).open()) {
                PerdureBuilder builder = Perdure.on(store);
                UpgradeRuns.register(builder);
                try (Perdure worker = builder.start()) {
                    assertThat(new UpgradeRuns(worker).end()).isEmpty();
                }
            }
        }
    }
}
