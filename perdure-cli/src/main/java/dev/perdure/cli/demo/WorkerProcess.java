package dev.perdure.cli.demo;

import dev.perdure.embedded.EmbeddedPostgres;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A worker in a process of its own, which the demo can kill. */
final class WorkerProcess implements AutoCloseable {
    private final Process process;

    private WorkerProcess(Process process) {
        this.process = process;
    }

    static WorkerProcess start(EmbeddedPostgres postgres) {
        try {
            String java =
                    Path.of(System.getProperty("java.home"), "bin", "java").toString();
            ProcessBuilder builder = new ProcessBuilder(List.of(
                            java,
                            "-Xmx128m",
                            "-cp",
                            System.getProperty("java.class.path"),
                            DemoWorker.class.getName(),
                            postgres.jdbcUrl(),
                            postgres.user()))
                    .redirectError(ProcessBuilder.Redirect.INHERIT);
            builder.environment().put("PGPASSWORD", postgres.password());
            WorkerProcess worker = new WorkerProcess(builder.start());
            worker.awaitReady();
            return worker;
        } catch (IOException cannot) {
            throw new UncheckedIOException("The worker process could not be started.", cannot);
        }
    }

    private void awaitReady() throws IOException {
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        String line = output.readLine();
        if (!"ready".equals(line)) {
            close();
            throw new IOException("The worker process printed '" + line + "' instead of 'ready'.");
        }
    }

    long pid() {
        return process.pid();
    }

    /** Kills the process like {@code kill -9}: it runs no shutdown hook and no finally block. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(15, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException interrupted) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
