package dev.perdure.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.perdure.embedded.EmbeddedPostgresException.Reason;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/**
 * Runs {@code supervise.sh}, a small shell process that starts the server, and stops it when this JVM says so or dies.
 * The script notices the death of the JVM by the end of its input: the operating system closes the pipe however the JVM
 * dies.
 */
final class Supervisor {
    static final String SCRIPT = "supervise.sh";

    /** How long creating the data folder may take, in addition to the start. */
    private static final Duration INITDB = Duration.ofSeconds(60);
    /** Longer than the script needs for an orderly stop and then an immediate one. */
    private static final Duration STOP = Duration.ofSeconds(40);

    private final Process process;
    private final DataFolder folder;
    private final int port;
    private final CompletableFuture<String> answer = new CompletableFuture<>();

    private Supervisor(Process process, DataFolder folder, int port) {
        this.process = process;
        this.folder = folder;
        this.port = port;
    }

    static Supervisor launch(DataFolder folder, Binaries binaries, RunAs runAs, Start start) {
        folder.install(SCRIPT, script());
        runAs.own(folder.root());
        var builder = new ProcessBuilder(runAs.command(
                        "sh",
                        folder.root().resolve(SCRIPT).toString(),
                        folder.root().toString(),
                        binaries.programs().toString(),
                        Integer.toString(start.port()),
                        Long.toString(Math.max(1, start.timeout().toSeconds())),
                        folder.temporary() ? "delete" : "keep",
                        start.fixedSettings()))
                .redirectErrorStream(true);
        // The caller's settings for PostgreSQL clients must not apply here. This code parses messages, so they must be
        // English.
        builder.environment().keySet().removeIf(name -> name.startsWith("PG"));
        builder.environment().put("LC_ALL", "C");
        builder.environment().put("TZ", "UTC");
        try {
            var supervisor = new Supervisor(builder.start(), folder, start.port());
            // Not a virtual thread: reading a pipe keeps its carrier, and a few servers would leave none for others.
            Thread.ofPlatform().daemon().name("perdure-postgres-output").start(supervisor::readAnswer);
            return supervisor;
        } catch (IOException e) {
            throw new EmbeddedPostgresException(
                    Reason.START_FAILED, "Cannot run a shell to start PostgreSQL: " + e.getMessage(), e);
        }
    }

    /** The parameters of a start. */
    record Start(int port, Duration timeout, String fixedSettings) {}

    boolean alive() {
        return process.isAlive();
    }

    /**
     * Returns when the server accepts connections. If it throws, it has stopped all processes, and the exception says
     * why.
     */
    void awaitReady(Duration timeout) {
        try {
            var said = answer.get(timeout.plus(INITDB).toMillis(), TimeUnit.MILLISECONDS);
            if (!said.equals("ready")) {
                end();
                throw StartFailure.of(folder.root(), port, said.replaceFirst("^failed\n", ""));
            }
        } catch (TimeoutException e) {
            end();
            throw new EmbeddedPostgresException(
                    Reason.TIMED_OUT, "PostgreSQL in " + folder.root() + " did not start in " + timeout + ".", e);
        } catch (ExecutionException e) {
            throw new AssertionError("reading never fails the answer", e);
        } catch (InterruptedException e) {
            end();
            Thread.currentThread().interrupt();
            throw new EmbeddedPostgresException(
                    Reason.START_FAILED, "Interrupted while PostgreSQL was starting. The server is stopped again.", e);
        }
    }

    /** Stops the server and keeps the folder. {@return whether it has stopped} */
    boolean stop(StopMode mode) {
        try {
            process.getOutputStream().write(("stop " + mode.word() + "\n").getBytes(UTF_8));
        } catch (IOException e) {
            // The supervisor is already dead.
        }
        return end();
    }

    /** Stops the server and deletes a temporary folder. {@return whether it has stopped} */
    boolean end() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            // The supervisor is already dead.
        }
        return awaitExit();
    }

    private boolean awaitExit() {
        var interrupted = false;
        var deadline = System.nanoTime() + STOP.toNanos();
        try {
            while (true) {
                try {
                    return process.waitFor(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true; // Wait on: a half-stopped server is of no use.
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void readAnswer() {
        try (var lines = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
            var first = lines.readLine();
            if ("ready".equals(first)) {
                answer.complete("ready");
            }
            // Read to the end in any case: a full pipe would block the supervisor.
            var rest = lines.lines().collect(Collectors.joining("\n"));
            answer.complete((first == null ? "" : first + "\n") + rest);
        } catch (IOException | RuntimeException e) {
            answer.complete("the supervisor's output could not be read: " + e);
        }
    }

    private static byte[] script() {
        try (var in = Supervisor.class.getResourceAsStream(SCRIPT)) {
            if (in == null) {
                throw new IOException("it is missing from the jar");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new EmbeddedPostgresException(
                    Reason.START_FAILED, "Cannot read " + SCRIPT + ": " + e.getMessage(), e);
        }
    }
}
