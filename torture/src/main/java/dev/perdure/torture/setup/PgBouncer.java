package dev.perdure.torture.setup;

import dev.perdure.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A PgBouncer in transaction mode in front of a server: each transaction may be on another connection. */
final class PgBouncer implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration BETWEEN = Duration.ofMillis(50);
    private static final String NOBODY = "nobody";
    private static final String CONFIGURATION = """
            [databases]
            * = host=127.0.0.1 port=%d
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = %d
            unix_socket_dir =
            auth_type = scram-sha-256
            auth_file = %s
            pool_mode = transaction
            default_pool_size = 20
            max_client_conn = 500
            server_login_retry = 1
            ignore_startup_parameters = extra_float_digits
            logfile = %s
            """;

    private final Path folder;
    private final int port;
    private final Process process;

    private PgBouncer(Path folder, int port, Process process) {
        this.folder = folder;
        this.port = port;
        this.process = process;
    }

    /** Starts the program, and returns when it accepts connections. */
    static PgBouncer start(Path program, EmbeddedPostgres server) throws IOException {
        Path folder = Files.createTempDirectory("perdure-torture-pgbouncer");
        // Another user reads it: see below.
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
        Files.writeString(folder.resolve("users"), "\"%s\" \"%s\"%n".formatted(server.user(), server.password()));
        int port = freePort();
        write(folder, server.port(), port);
        List<String> command = new ArrayList<>(List.of(program.toString(), "--quiet"));
        if (System.getProperty("user.name", "").equals("root")) {
            command.addAll(List.of("--user", NOBODY)); // it refuses to run as root
        }
        command.add(folder.resolve("pgbouncer.ini").toString());
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        PgBouncer pooler = new PgBouncer(folder, port, process);
        try {
            pooler.awaitReady();
            return pooler;
        } catch (IOException failed) {
            pooler.close();
            throw failed;
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static void write(Path folder, int serverPort, int port) throws IOException {
        Files.writeString(
                folder.resolve("pgbouncer.ini"),
                CONFIGURATION.formatted(serverPort, port, folder.resolve("users"), folder.resolve("log")));
    }

    private void awaitReady() throws IOException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!listens()) {
            if (!process.isAlive() || System.nanoTime() > end) {
                Path log = folder.resolve("log");
                throw new IOException(
                        "PgBouncer does not listen. " + (Files.exists(log) ? Files.readString(log) : "It has no log."));
            }
            LockSupport.parkNanos(BETWEEN.toNanos());
        }
    }

    private boolean listens() {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException notYet) {
            return false;
        }
    }

    /** Where it listens. */
    int port() {
        return port;
    }

    /** Passes transactions on to another server on this machine. */
    void redirect(int serverPort) throws IOException, InterruptedException {
        write(folder, serverPort, port);
        new ProcessBuilder("kill", "-HUP", Long.toString(process.pid())).start().waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            ServerFolder.deleteBelow(folder);
            Files.delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
