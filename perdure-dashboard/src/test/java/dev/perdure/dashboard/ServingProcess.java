package dev.perdure.dashboard;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.postgres.PostgresStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/** A process that serves the dashboard of a database and runs no workflow, as {@code ./perdure dashboard --url} does. */
final class ServingProcess implements AutoCloseable {
    /** The name by which the server of the database knows the connections of the process. */
    static final String APPLICATION = "pages";

    private final Process process;
    private final URI address;

    private ServingProcess(Process process, URI address) {
        this.process = process;
        this.address = address;
    }

    /** Starts the process. */
    static ServingProcess on(EmbeddedPostgres postgres) throws IOException {
        Process process = java(ServingProcess.class, postgres.jdbcUrl(), postgres.user(), postgres.password());
        return new ServingProcess(
                process, URI.create(process.inputReader(StandardCharsets.UTF_8).readLine()));
    }

    /** Starts a class of the tests in a process of its own. */
    static Process java(Class<?> main, String... arguments) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName());
        for (String argument : arguments) {
            builder.command().add(argument);
        }
        return builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    /** Where the pages are. */
    URI address() {
        return address;
    }

    long pid() {
        return process.pid();
    }

    @Override
    public void close() {
        process.destroy();
        process.onExit().join();
    }

    /** A pool whose connections all stay open. */
    static HikariDataSource pool(String url, String user, String password, int connections) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setUsername(user);
        config.setPassword(password);
        config.setMaximumPoolSize(connections);
        return new HikariDataSource(config);
    }

    /** The process: it ends with the one that started it. */
    public static void main(String[] args) throws IOException {
        try (HikariDataSource pool = pool(args[0] + "?ApplicationName=" + APPLICATION, args[1], args[2], 16);
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure perdure = Perdure.on(store).start();
                Dashboard dashboard = Dashboard.on(perdure).start()) {
            System.out.println(dashboard.address().resolve("/"));
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
        }
    }
}
