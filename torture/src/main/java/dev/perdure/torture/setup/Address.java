package dev.perdure.torture.setup;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.embedded.SharedPostgres;
import java.time.Duration;
import java.util.List;

/**
 * Where a database is, as a process sees it.
 *
 * @param jdbcUrl the server, or a proxy in front of it, and the database
 */
public record Address(String jdbcUrl, String user, String password) {
    private static final int CONNECTIONS = 5;
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    /** The database of a test. */
    public static Address of(SharedPostgres.Fresh database) {
        return new Address(database.jdbcUrl(), database.user(), database.password());
    }

    /** The address that begins with this argument of a process. */
    public static Address of(String[] arguments, int first) {
        return new Address(arguments[first], arguments[first + 1], arguments[first + 2]);
    }

    /** The same database through a proxy. */
    public Address through(FaultyProxy proxy) {
        String database = jdbcUrl.replaceFirst(".*/([^?]*).*", "$1");
        String url = "jdbc:postgresql://127.0.0.1:%d/%s?sslmode=disable&gssEncMode=disable";
        return new Address(url.formatted(proxy.port(), database), user, password);
    }

    /** The same through a pooler behind the proxy, on whose connections no statement stays prepared. */
    Address throughPooler(FaultyProxy proxy) {
        Address address = through(proxy);
        return new Address(address.jdbcUrl + "&prepareThreshold=0", user, password);
    }

    /** The same database, on connections that begin with this name: the driver waits with it for servers before 9.0. */
    public Address named(String name) {
        return new Address(jdbcUrl + "&assumeMinServerVersion=9.0&ApplicationName=" + name, user, password);
    }

    /** What a process is told, for {@link #of(String[], int)}. */
    public List<String> arguments() {
        return List.of(jdbcUrl, user, password);
    }

    /** A pool, small, as processes share a server with few connections. */
    public HikariDataSource pool() {
        return pool(CONNECTIONS);
    }

    /** A pool of this size. */
    public HikariDataSource pool(int size) {
        return new HikariDataSource(config(size));
    }

    /** A pool whose connections are always all there, and are replaced when they are so old. */
    public HikariDataSource pool(Duration life) {
        HikariConfig config = config(CONNECTIONS);
        config.setMinimumIdle(CONNECTIONS);
        config.setMaxLifetime(life.toMillis());
        return new HikariDataSource(config);
    }

    private HikariConfig config(int size) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(jdbcUrl);
        config.setUsername(user);
        config.setPassword(password);
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(1);
        config.setConnectionTimeout(PATIENCE.toMillis());
        return config;
    }
}
