package dev.perdure.benchmarks.server;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/** The address and login of a database. */
public record BenchDatabase(String url, String user, String password) {
    /**
     * Parses a URL. The user and password in the URL take precedence, and are removed from it, because the benchmark
     * prints URLs.
     */
    public static BenchDatabase of(String url, @Nullable String user, @Nullable String password) {
        PGSimpleDataSource parsed = new PGSimpleDataSource();
        parsed.setUrl(url);
        return new BenchDatabase(
                parsed.getUrl(),
                Objects.requireNonNullElse(parsed.getUser() == null ? user : parsed.getUser(), "postgres"),
                Objects.requireNonNullElse(parsed.getPassword() == null ? password : parsed.getPassword(), ""));
    }

    /**
     * The URL for the measured code: like {@link #url}, but with sockets that count round trips. The benchmark's own
     * connections do not count.
     */
    public String countedUrl() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(url);
        source.setSocketFactory(CountingSocketFactory.class.getName());
        return source.getUrl();
    }

    /** A pool for the measured code, with the defaults of pool and driver. */
    public HikariDataSource pool() {
        return new HikariDataSource(pooled());
    }

    /** A pool of this size for the measured code, otherwise with the defaults of pool and driver. */
    public HikariDataSource pool(int size) {
        HikariConfig config = pooled();
        config.setMaximumPoolSize(size);
        return new HikariDataSource(config);
    }

    private HikariConfig pooled() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(countedUrl());
        config.setUsername(user);
        config.setPassword(password);
        return config;
    }

    public Connection connect() throws SQLException {
        return DriverManager.getConnection(url, user, password);
    }

    /** A connection with this application name. */
    Connection connect(String applicationName) throws SQLException {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(url);
        source.setApplicationName(applicationName);
        return source.getConnection(user, password);
    }

    public void execute(String sql, long... parameters) throws SQLException {
        try (Connection connection = connect();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setLong(i + 1, parameters[i]);
            }
            statement.execute();
        }
    }

    public long number(String query) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    public String text(String query) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            return rows.getString(1);
        }
    }

    /** The size of the database on disk. */
    public long bytesOnDisk() throws SQLException {
        return number("SELECT pg_database_size(current_database())");
    }

    /** The URL, without the password. */
    @Override
    public String toString() {
        return "BenchDatabase[" + url + "]";
    }
}
