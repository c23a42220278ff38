package dev.perdure.spring.boot;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.spi.report.EngineLog;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.springframework.util.ClassUtils;

/** Says at the start how many connections of its pool the store takes, because the application often shares it. */
final class PoolInLog {
    private static final Logger LOG = EngineLog.of("dev.perdure.store");
    private static final boolean HIKARI =
            ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource", PoolInLog.class.getClassLoader());

    private PoolInLog() {}

    /**
     * Logs it.
     *
     * @param taken how many connections the store takes at most
     */
    static void say(DataSource source, int taken) {
        if (!HIKARI || !Hikari.say(source, taken)) {
            LOG.info("Perdure takes up to {} connections of its DataSource.", taken);
        }
    }

    /** What needs the class of the pool, which an application may have replaced. */
    private static final class Hikari {
        static boolean say(DataSource source, int taken) {
            HikariDataSource pool;
            try {
                if (!source.isWrapperFor(HikariDataSource.class)) {
                    return false;
                }
                pool = source.unwrap(HikariDataSource.class);
            } catch (SQLException unknown) {
                return false;
            }
            int size = pool.getMaximumPoolSize();
            if (size < taken) {
                LOG.warn(
                        "Perdure takes up to {} connections, and the pool '{}' has only {}: they wait for each other, and the application for them. Raise the size of the pool (spring.datasource.hikari.maximum-pool-size), or give Perdure its own with @PerdureDataSource.",
                        taken,
                        pool.getPoolName(),
                        size);
            } else {
                LOG.info(
                        "Perdure takes up to {} of the {} connections of the pool '{}'.",
                        taken,
                        size,
                        pool.getPoolName());
            }
            return true;
        }
    }
}
