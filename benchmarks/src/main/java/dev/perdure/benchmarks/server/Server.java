package dev.perdure.benchmarks.server;

import dev.perdure.embedded.EmbeddedPostgres;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The one server of a run: an embedded one, or one that was there. Everybody gets a database of their own on it, so that
 * nobody pays for what others have left behind.
 */
public final class Server implements AutoCloseable {
    /** Beyond the defaults, and printed with the figures: memory, and room so that no checkpoint falls into a round. */
    private static final List<List<String>> SETTINGS = List.of(
            List.of("shared_buffers", "512MB"),
            List.of("max_wal_size", "8GB"),
            List.of("min_wal_size", "2GB"),
            List.of("checkpoint_timeout", "30min"));

    private static final List<String> SHOWN =
            List.of("fsync", "synchronous_commit", "full_page_writes", "shared_buffers", "max_wal_size");

    private final Site home;
    private final @Nullable EmbeddedPostgres embedded;

    private Server(Site home, @Nullable EmbeddedPostgres embedded) {
        this.home = home;
        this.embedded = embedded;
    }

    /** A server that ends with this one. */
    public static Server embedded() {
        var options = EmbeddedPostgres.options();
        for (List<String> setting : SETTINGS) {
            options = options.setting(setting.getFirst(), setting.getLast());
        }
        EmbeddedPostgres postgres = EmbeddedPostgres.start(options);
        return new Server(new Site(postgres.jdbcUrl(), postgres.user(), postgres.password()), postgres);
    }

    /** A server that is there; its user must be allowed to create databases. */
    public static Server at(Site site) throws SQLException {
        Server server = new Server(site, null);
        for (String setting : List.of("fsync", "synchronous_commit")) {
            String value = site.text("SHOW " + setting);
            if (value.equals("off")) {
                throw new IllegalArgumentException(
                        "%s is off on the server at %s, so a commit is not durable and its rate means nothing. Turn it on."
                                .formatted(setting, site.url()));
            }
        }
        return server;
    }

    /** A database that is there before any other. */
    public Site home() {
        return home;
    }

    /** What the server is and how it is set. */
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

    /** An empty database, in place of any that had this name. All dirty pages are on disk before it is handed out. */
    public Site fresh(String name) throws SQLException {
        drop(name);
        home.execute("CREATE DATABASE " + name);
        home.execute("CHECKPOINT");
        return new Site(urlOf(name), home.user(), home.password());
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
