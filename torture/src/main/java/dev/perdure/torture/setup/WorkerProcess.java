package dev.perdure.torture.setup;

import dev.perdure.embedded.SharedPostgres;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A real worker process, killed with real signals. */
public final class WorkerProcess implements AutoCloseable {
    private static final Duration TO_END = Duration.ofSeconds(30);

    private final Process process;
    private volatile boolean toEnd;
    private volatile boolean joined;

    private WorkerProcess(Process process) {
        this.process = process;
    }

    /** Starts a worker with the address of this database, and with more arguments after it. */
    public static WorkerProcess start(Class<?> worker, SharedPostgres.Fresh database, String... more)
            throws IOException {
        List<String> arguments = new ArrayList<>(Address.of(database).arguments());
        arguments.addAll(List.of(more));
        return start(worker, arguments);
    }

    /** Starts a worker with these arguments. Its log goes to the errors of this process. */
    public static WorkerProcess start(Class<?> worker, List<String> arguments) throws IOException {
        return start(List.of("-Xmx192m"), worker, arguments, ProcessBuilder.Redirect.INHERIT);
    }

    /** The same with these options of the JVM, and with another place for its log. */
    public static WorkerProcess start(
            List<String> options, Class<?> worker, List<String> arguments, ProcessBuilder.Redirect errors)
            throws IOException {
        return start(options, System.getProperty("java.class.path", ""), worker, arguments, errors);
    }

    /** The same with another class path, on which the class of this name is. */
    static WorkerProcess start(
            List<String> options,
            String classPath,
            Class<?> worker,
            List<String> arguments,
            ProcessBuilder.Redirect errors)
            throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> command = new ArrayList<>(List.of(java));
        command.addAll(options);
        command.addAll(List.of(
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dtorture.level=WARN",
                "-cp",
                classPath,
                worker.getName()));
        command.addAll(arguments);
        return new WorkerProcess(
                new ProcessBuilder(command).redirectError(errors).start());
    }

    /** Waits until it has joined. */
    public WorkerProcess ready() throws IOException {
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
    public Stream<String> says() {
        return process.inputReader(StandardCharsets.UTF_8).lines();
    }

    /**
     * Sends it a line, and waits for a line that begins with it; gives the rest of that line. Not together with
     * {@link #says()}.
     */
    public String ask(String question) throws IOException {
        Writer input = process.outputWriter(StandardCharsets.UTF_8);
        input.write(question + "\n");
        input.flush();
        String answer = process.inputReader(StandardCharsets.UTF_8).readLine();
        while (answer != null && !answer.startsWith(question + " ")) {
            answer = process.inputReader(StandardCharsets.UTF_8).readLine();
        }
        if (answer == null) {
            throw new IOException("Worker process %d has ended.".formatted(pid()));
        }
        return answer.substring(question.length() + 1);
    }

    /** Its process id. */
    public long pid() {
        return process.pid();
    }

    /** Whether it was seen to join. */
    boolean hasJoined() {
        return joined;
    }

    /** Notes that it has joined. */
    void joined() {
        joined = true;
    }

    /** Whether it was killed or asked to end. */
    boolean isToEnd() {
        return toEnd;
    }

    /** Whether it has not ended. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Waits until it has ended by itself, and says how. */
    public int exitCode() throws InterruptedException {
        return process.waitFor();
    }

    /** Kills it with SIGKILL. */
    public void kill() throws InterruptedException {
        toEnd = true;
        process.destroyForcibly();
        process.waitFor();
    }

    /** Ends its input, with which a worker closes its engine and ends; kills it if that takes too long. */
    public void end() throws IOException, InterruptedException {
        toEnd = true;
        process.getOutputStream().close();
        if (!process.waitFor(TO_END.toSeconds(), TimeUnit.SECONDS)) {
            kill();
        }
    }

    /**
     * Sends a signal by name: STOP, CONT.
     *
     * @return whether the process was there
     */
    public boolean signal(String name) throws IOException, InterruptedException {
        return new ProcessBuilder("kill", "-" + name, Long.toString(pid()))
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start()
                        .waitFor()
                == 0;
    }

    @Override
    public void close() {
        toEnd = true;
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
