package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.conformance.contract.StoreContract;
import dev.perdure.spi.Store;
import java.time.Instant;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The store contract on the installed PostgreSQL, which compiles none of the statements. */
@Tag("thorough") // NothingIsCompiledIT has the statements that were compiled
final class InstalledStoreIT extends StoreContract {
    private static final String SCHEMA = TestServer.newSchema();

    private static HikariDataSource pool;

    @BeforeAll
    static void openPool() {
        InstalledPostgres.forgetStatements();
        pool = TestServer.pool(InstalledPostgres.plain(), 9);
        PostgresStore.on(pool).schema(SCHEMA).notifications(false).open().close();
    }

    @AfterAll
    static void no_statement_was_compiled() {
        if (pool != null) {
            pool.close();
            assertThat(InstalledPostgres.query(
                            "SELECT count(*) > 200 FROM pg_stat_statements WHERE strpos(query, '%s.') > 0"
                                    .formatted(SCHEMA)))
                    .isEqualTo("t");
            assertThat(InstalledPostgres.compiledStatements()).isEmpty();
        }
    }

    @Override
    protected Store freshStore(Supplier<Instant> time) {
        InstalledPostgres.execute(TestServer.emptying(SCHEMA));
        return PostgresStore.on(pool)
                .schema(SCHEMA)
                .notifications(false)
                .time(time)
                .open();
    }
}
