package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.postgres.jdbc.PoolTimeout;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Whether a pool could hold up the renewal of a lease. */
final class PoolTimeoutTest {
    private static final Duration LEASE = Duration.ofSeconds(10);

    @Test
    void the_default_of_hikari_is_longer_than_the_default_lease() {
        try (HikariDataSource pool = new HikariDataSource()) {
            assertThat(PoolTimeout.warning(pool, LEASE).orElseThrow())
                    .contains("wait up to PT30S for a connection", "the lease of this worker is PT10S")
                    .contains("Set the pool's timeout (connectionTimeout");
        }
    }

    @Test
    void a_pool_that_gives_up_sooner_is_fine() {
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setConnectionTimeout(2_500);
            assertThat(PoolTimeout.of(pool)).hasValue(Duration.ofMillis(2_500));
            assertThat(PoolTimeout.warning(pool, LEASE)).isEmpty();
        }
    }

    /** As DBCP and c3p0 say it. */
    public static final class Limitless extends PGSimpleDataSource {
        private static final long serialVersionUID = 1L;

        public Duration getMaxWaitDuration() {
            return Duration.ofMillis(-1);
        }
    }

    @Test
    void a_pool_without_a_limit_lets_wait_for_ever() {
        assertThat(PoolTimeout.warning(new Limitless(), LEASE).orElseThrow())
                .contains("wait for ever for a connection");
    }

    @Test
    void without_a_pool_the_time_to_log_in_counts() throws Exception {
        PGSimpleDataSource source = new PGSimpleDataSource();
        assertThat(PoolTimeout.of(source)).isEmpty();
        source.setLoginTimeout(20);
        assertThat(PoolTimeout.warning(source, LEASE).orElseThrow()).contains("PT20S");
    }
}
