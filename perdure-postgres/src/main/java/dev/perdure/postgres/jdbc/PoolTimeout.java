package dev.perdure.postgres.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * Finds how long a {@link DataSource} lets its callers wait for a connection. Pools are not dependencies of this
 * library, so it calls their methods by name.
 */
public final class PoolTimeout {
    private static final Duration FOREVER = Duration.ofDays(365);
    /** HikariCP, DBCP, Tomcat, c3p0. */
    private static final List<String> METHODS =
            List.of("getConnectionTimeout", "getMaxWaitDuration", "getMaxWait", "getCheckoutTimeout");

    private PoolTimeout() {}

    /** The warning for the owner of a pool that may delay the renewal of a lease until after its end. */
    public static Optional<String> warning(DataSource source, Duration lease) {
        return of(source)
                .filter(timeout -> timeout.compareTo(lease) >= 0)
                .map(timeout ->
                        ("The pool lets its callers wait %s for a connection, and the lease of this worker is %s. If the pool has no free connection for that long, "
                                        + "the worker loses its lease and its runs wait until the pool answers. Set the pool's timeout (%s) to a quarter of the lease, or lengthen the lease.")
                                .formatted(
                                        timeout.equals(FOREVER) ? "for ever" : "up to " + timeout,
                                        lease,
                                        "connectionTimeout, maxWait or checkoutTimeout"));
    }

    /** The timeout, as far as it is known. */
    public static Optional<Duration> of(DataSource source) {
        return METHODS.stream()
                .flatMap(method -> asked(source, method).stream())
                .findFirst()
                .or(() -> loginTimeout(source));
    }

    private static Optional<Duration> asked(DataSource source, String method) {
        try {
            return switch (source.getClass().getMethod(method).invoke(source)) {
                case Duration duration -> Optional.of(limited(duration));
                case Number millis -> Optional.of(limited(Duration.ofMillis(millis.longValue())));
                case null, default -> Optional.empty();
            };
        } catch (ReflectiveOperationException | RuntimeException e) {
            return Optional.empty(); // another pool, or a proxy around one that hides these methods
        }
    }

    private static Duration limited(Duration duration) {
        boolean limitless = duration.isNegative() || duration.isZero() || duration.compareTo(FOREVER) > 0;
        return limitless ? FOREVER : duration;
    }

    private static Optional<Duration> loginTimeout(DataSource source) {
        try {
            return source.getLoginTimeout() > 0
                    ? Optional.of(Duration.ofSeconds(source.getLoginTimeout()))
                    : Optional.empty();
        } catch (SQLException | RuntimeException e) {
            return Optional.empty();
        }
    }
}
