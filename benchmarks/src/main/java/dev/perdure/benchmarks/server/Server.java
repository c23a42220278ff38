package dev.perdure.benchmarks.server;

import dev.perdure.embedded.EmbeddedPostgres;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The server of a run: an embedded or an existing one. Each measurement gets its own database on it, so that it does
 * not pay for the rows of others.
 */
public final class Server implements AutoCloseable {
    /**
     * The settings that differ from the defaults: memory, enough WAL that no checkpoint falls into a round, and
     * connections for the pools of eight processes. The output shows what matters for the figures.
     */
    private static final List<List<String>> SETTINGS = List.of(
            List.of("shared_buffers", "512MB"),
            List.of("max_wal_size", "8GB"),
            List.of("min_wal_size", "2GB"),
            List.of("checkpoint_timeout", "30min"),
            List.of("max_connections", "200"));

    private static final List<String> SHOWN =
            List.of("fsync", "synchronous_commit", "full_page_writes", "shared_buffers", "max_wal_size");

    private final BenchDatabase home;
    private final @Nullable EmbeddedPostgres embedded;

    private Server(BenchDatabase home, @Nullable EmbeddedPostgres embedded) {
        this.home = home;
        this.embedded = embedded;
    }

    /** An embedded server, which {@link #close()} stops. */
    public static Server embedded() {
        var options = EmbeddedPostgres.options();
        for (List<String> setting : SETTINGS) {
            options = options.setting(setting.getFirst(), setting.getLast());
        }
        EmbeddedPostgres postgres = EmbeddedPostgres.start(options);
        return new Server(new BenchDatabase(postgres.jdbcUrl(), postgres.user(), postgres.password()), postgres);
    }

    /** An existing server. Its user must have the right to create databases. */
    public static Server at(BenchDatabase database) throws SQLException {
        Server server = new Server(database, null);
        for (String setting : List.of("fsync", "synchronous_commit")) {
            String value = database.text("SHOW " + setting);
            if (value.equals("off")) {
                throw new IllegalArgumentException(
                        "%s is off on the server at %s, so commits are not durable and their rate means nothing. Turn it on."
                                .formatted(setting, database.url()));
            }
        }
        return server;
    }

    /** The database that exists before any other. */
    public BenchDatabase home() {
        return home;
    }

    /** The version and the settings of the server. */
    public List<String> description() throws SQLException {
        StringBuilder settings = new StringBuilder();
        for (String name : SHOWN) {
            settings.append(settings.isEmpty() ? "" : ", ")
                    .append(name)
                    .append('=')
                    .append(home.text("SHOW " + name));
        }
        return List.of(
                "PostgreSQL " + home.text("SHOW server_version") + (embedded == null ? "" : ", embedded"),
                settings.toString());
    }

    /**
     * Creates an empty database, and drops an existing one of this name. Writes all dirty pages to disk before it
     * returns.
     */
    public BenchDatabase fresh(String name) throws SQLException {
        drop(name);
        home.execute("CREATE DATABASE " + name);
        home.execute("CHECKPOINT");
        return new BenchDatabase(urlOf(name), home.user(), home.password());
    }

    public void drop(String name) throws SQLException {
        home.execute("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)");
    }

    private String urlOf(String database) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(home.url());
        source.setDatabaseName(database);
        return source.getUrl();
    }

    @Override
    public void close() {
        if (embedded != null) {
            embedded.close();
        }
    }
}
