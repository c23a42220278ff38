package dev.perdure.torture;

import dev.perdure.embedded.SharedPostgres;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A real worker process, killed with real signals. */
final class WorkerProcess implements AutoCloseable {
    private final Process process;

    private WorkerProcess(Process process) {
        this.process = process;
    }

    static WorkerProcess start(SharedPostgres.Fresh database) throws IOException {
        return start(CrashWorker.class, database);
    }

    /** Starts another kind of worker, with more arguments after the address of the database. */
    static WorkerProcess start(Class<?> worker, SharedPostgres.Fresh database, String... more) throws IOException {
        return start("192m", worker, database, more);
    }

    /** The same with a heap of this size. */
    static WorkerProcess start(String heap, Class<?> worker, SharedPostgres.Fresh database, String... more)
            throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> command = new ArrayList<>(List.of(
                java,
                "-Xmx" + heap,
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                worker.getName(),
                database.jdbcUrl(),
                database.user(),
                database.password()));
        command.addAll(List.of(more));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        return new WorkerProcess(process);
    }

    /** Waits until it has joined. */
    WorkerProcess ready() throws IOException {
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        String line = output.readLine();
        while (!"ready".equals(line)) {
            if (line == null) {
                throw new IOException("The worker ended before it was ready.");
            }
            line = output.readLine();
        }
        return this;
    }

    /** What it says once it is ready, until it ends. */
    Stream<String> says() {
        return process.inputReader(StandardCharsets.UTF_8).lines();
    }

    long pid() {
        return process.pid();
    }

    /** Waits until it has ended by itself, and says how. */
    int exitCode() throws InterruptedException {
        return process.waitFor();
    }

    void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    /** Sends a signal by name: STOP, CONT. */
    void signal(String name) throws IOException, InterruptedException {
        int code = new ProcessBuilder("kill", "-" + name, Long.toString(pid()))
                .start()
                .waitFor();
        if (code != 0) {
            throw new IOException("kill -" + name + " ended with " + code);
        }
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                process.waitFor();
            }
        } catch (InterruptedException interrupted) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
